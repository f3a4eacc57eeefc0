// What the theme leaves out: the button that copies a block is in an unnamed landmark, and a key
// scrolls long lines and wide tables only on some devices.
const complete = () => {
  for (const each of document.querySelectorAll(".md-code__nav:not([role])"))
    each.setAttribute("role", "none");
  for (const each of document.querySelectorAll("pre > code:not([tabindex])"))
    each.setAttribute("tabindex", "0");
  for (const each of document.querySelectorAll(".md-typeset__scrollwrap:not([tabindex])"))
    if (each.scrollWidth > each.clientWidth) {
      each.setAttribute("tabindex", "0");
      each.setAttribute("role", "group");
      each.setAttribute("aria-label", "Table");
    }
};
new MutationObserver(complete).observe(document.body, {
  attributeFilter: ["tabindex"], childList: true, subtree: true,
});
addEventListener("resize", complete);
complete();
