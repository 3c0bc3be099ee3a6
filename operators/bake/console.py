# SPDX-License-Identifier: GPL-3.0-or-later
"""Progress of a bake without a window: tqdm's bar where that is installed, else a line a second."""

import sys
import time

from .job import Job


class Console:
    """Progress of a bake without a window: tqdm's bar where that is installed, else a line a second."""

    def __init__(self, job: Job):
        self.said = time.perf_counter()
        self.frame = job.order.frames.start - 1
        try:
            from tqdm import tqdm
        except ImportError:
            self.bar = None
        else:
            self.bar = tqdm(total=len(job.order.frames), desc="Bake", unit="frame", file=sys.stdout)

    def __call__(self, job: Job) -> None:
        """Show how far the job is."""
        frame = max(job.frame, job.reports[-1].frame if job.reports else job.frame)
        if self.bar is not None:
            self.bar.update(max(0, frame - max(self.frame, job.order.frames.start - 1)))
            self.bar.set_postfix_str(job.slow(), refresh=bool(job.slow()))
        elif time.perf_counter() - self.said > 1.0:
            self.said = time.perf_counter()
            print(f"Taffeta: {job.slow() or job.status}", flush=True)
        self.frame = frame

    def close(self) -> None:
        """Leave the line."""
        if self.bar is not None:
            self.bar.close()
