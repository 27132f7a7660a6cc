"""Tasks: pieces of work that do not depend on each other, and who does them: this process, or a cluster."""
