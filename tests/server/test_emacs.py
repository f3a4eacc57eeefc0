"""``distlint server`` with Emacs and eglot."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.server.test_server import BUGGY, CLEAN

EMACS = shutil.which("emacs")

SESSION = """
(require 'package)
(package-initialize)
(unless (require 'eglot nil t) (kill-emacs 77))
(add-to-list 'eglot-server-programs '((python-mode python-ts-mode) . ("distlint" "server")))
(setq eglot-connect-timeout 60 eglot-sync-connect 60 make-backup-files nil)
(find-file (getenv "SCRIPT"))
(apply #'eglot (eglot--guess-contact))
(defun seen ()
  (let ((end (+ (float-time) 60)))
    (while (and (< (float-time) end) (not (flymake-diagnostics)))
      (flymake-start)
      (accept-process-output nil 0.2)))
  (car (flymake-diagnostics)))
(let* ((found (seen))
       (row (line-number-at-pos (flymake-diagnostic-beg found)))
       (actions (eglot-code-actions
                 (flymake-diagnostic-beg found) (flymake-diagnostic-end found) nil nil))
       (fix (seq-find (lambda (each) (string-match "unsafe" (plist-get each :title))) actions)))
  (message "ROW %d %s" row (flymake-diagnostic-text found))
  (setq eglot-confirm-server-initiated-edits nil)
  (if fix (eglot--apply-workspace-edit (plist-get fix :edit)) (message "NO FIX"))
  (save-buffer)
  (eglot-shutdown (eglot-current-server)))
"""


SETTINGS = SESSION.replace(
    '"server")', '"server" :initializationOptions (:unsafeFixes :json-false))'
)


def run(session: str, script: Path) -> str:
    """What a session in Emacs prints."""
    assert EMACS is not None
    lisp = script.with_name("session.el")
    script.write_text(BUGGY)
    lisp.write_text(session)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    result = subprocess.run(
        [EMACS, "--batch", "-l", str(lisp)],
        env={**os.environ, "PATH": path, "HOME": str(script.parent), "SCRIPT": str(script)},
        cwd=script.parent,
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    if result.returncode == 77:
        pytest.skip("eglot is not installed")
    assert result.returncode == 0, result.stderr
    return result.stderr


@pytest.mark.skipif(EMACS is None, reason="Emacs is not installed")
def test_eglot_shows_the_finding_and_applies_the_fix(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    printed = run(SESSION, script)
    assert "ROW 4 " in printed
    assert "ranks diverge on" in json.dumps(printed)
    assert script.read_text() == CLEAN


@pytest.mark.skipif(EMACS is None, reason="Emacs is not installed")
def test_settings_follow_the_command_in_eglot(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    assert "NO FIX" in run(SETTINGS, script)
    assert script.read_text() == BUGGY
