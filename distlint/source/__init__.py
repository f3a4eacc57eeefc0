"""Files as text, and what every layer says about them: positions, findings, edits."""
