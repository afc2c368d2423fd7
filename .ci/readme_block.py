"""Print the one bash block of README.md that follows the comment `<!-- ci: NAME -->`."""

import re
import sys
from pathlib import Path

name = sys.argv[1]
readme = Path(__file__).resolve().parents[1] / "README.md"
blocks = re.findall(
    rf"<!-- ci: {re.escape(name)} -->\s*```bash\n(.*?)```", readme.read_text("utf-8"), re.DOTALL
)
if len(blocks) != 1:
    sys.exit(f"README.md has {len(blocks)} bash blocks marked 'ci: {name}' instead of one")
print(blocks[0])
