"""Ask whether an installed package has a known vulnerability; arguments are those of pip-audit.

Fails on what is found and not excepted here. Where no service of advisories answers, it says that it did not
run: pip-audit itself calls packages that a service does not know sound.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

# The id of an advisory, and why it does not concern us.
EXCEPTED: dict[str, str] = {}
# A version with advisories: a service that knows none for it does not answer here.
CANARY = "requests==2.19.0"


def audited(*arguments: str) -> list[dict[str, Any]] | str:
    """Run pip-audit; return what it says of each package, or the last line of its error."""
    command = [sys.executable, "-m", "pip_audit", "--format", "json", "--progress-spinner", "off", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=900)
    try:
        found = json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError):
        return (done.stderr.strip().splitlines() or [f"pip-audit ended with {done.returncode}"])[-1]
    return list(found)


def answers(service: tuple[str, ...]) -> str | None:
    """Return why a service does not answer; None where it does."""
    with tempfile.TemporaryDirectory() as folder:
        wanted = Path(folder) / "requirements.txt"
        wanted.write_text(CANARY + "\n")
        found = audited(*service, "--no-deps", "--disable-pip", "-r", str(wanted))
    if isinstance(found, str):
        return found
    if not any(one.get("vulns") for one in found):
        return (
            found[0].get("skip_reason", f"it knows no advisory for {CANARY}") if found else "it says nothing"
        )
    return None


def main(arguments: list[str]) -> int:
    """Audit with the first service that answers; arguments that name a service leave no choice."""
    named = any(a in ("-s", "--vulnerability-service") for a in arguments)
    services = [tuple(arguments[:4])] if named else [("-s", "pypi"), ("-s", "osv")]
    rest = arguments[4:] if named else arguments
    reasons = []
    for service in services:
        if reason := answers(service):
            reasons.append(f"{service[1]}: {reason}")
            continue
        found = audited(*service, "--skip-editable", *rest)
        if isinstance(found, str):
            print(f"the audit failed: {found}")
            return 1
        return told(found)
    print(f"not run: no service of advisories answers here ({'; '.join(reasons)})")
    return 0


def told(found: list[dict[str, Any]]) -> int:
    """Print what was found; return 1 where an advisory is not excepted."""
    wrong = 0
    for one in found:
        if "skip_reason" in one:
            print(f"not audited: {one['name']}: {one['skip_reason']}")
        for advisory in one.get("vulns", ()):
            names = {advisory["id"], *advisory.get("aliases", ())}
            reason = next((EXCEPTED[name] for name in sorted(names & set(EXCEPTED))), None)
            fixed = ", ".join(advisory.get("fix_versions", ())) or "no version"
            where = f"{one['name']} {one['version']}: {advisory['id']}, mended in {fixed}"
            print(f"{where}; excepted: {reason or 'no'}")
            wrong += reason is None
    print(
        f"{sum('vulns' in one for one in found)} packages audited, {wrong} advisories that are not excepted"
    )
    return min(wrong, 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
