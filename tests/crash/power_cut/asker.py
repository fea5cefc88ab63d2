"""A program that drops jobs and requests, prunes one, and notes in the recording what it was promised. Run, not
imported: ``asker.py <workspace> <JSON list of calls>``."""

import json
import sys
from pathlib import Path

from bridge import trust
from bridge.settings import load
from jobs import client, files, spool
from jobs.errors import JobError
from jobs.layout import Workspace
from jobs.model import encode, job_digest
from power_cut.recording import mark


def main() -> None:
    workspace = Workspace(Path(sys.argv[1]))
    place = workspace.spool
    for what, *given in json.loads(sys.argv[2]):
        match what:
            case "adopt":
                trust.adopt(workspace, load().config_folder)
            case "submit":
                job_id, payload = given
                try:
                    client.submit(place, "noop", payload, job_id=job_id)
                except JobError:  # of another job with this id, for which another program does not look
                    job = {"schema_version": 1, "job_id": job_id, "kind": "noop", "payload": payload}
                    spool.drop(place, job_id, encode(job))
                mark(f"dropped {job_id} {job_digest('noop', payload)}")
            case "junk":
                (name,) = given
                files.make_folder(place.root)
                files.replace(place.inbox / name, b'{"schema_version": 1, "kind": ')
                mark(f"junk {name}")
            case "cancel":
                (job_id,) = given
                client.cancel(place, job_id)
                mark(f"cancelled {job_id}")
            case "retry":
                job_id, generation = given
                files.replace(place.retry(job_id), json.dumps({"job_id": job_id, "generation": generation}).encode())
                mark(f"retried {job_id}")
            case "prune":
                (job_id,) = given
                spool.prune(place, [job_id])


if __name__ == "__main__":
    main()
