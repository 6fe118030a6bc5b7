"""on_ray.py DIR: the job of DIR, see job.sh, on Ray (PyPI: ray), here or on the cluster of RAY_ADDRESS.

All machines see DIR and this folder under the same names. A step takes one processor, the decision all. One that
fails, or whose machine is gone, is given again three times. PARTS is the number of sorts.
"""
import os, subprocess, sys
import ray

here, folder = os.path.dirname(os.path.abspath(__file__)), os.path.abspath(sys.argv[1])
with open(folder + "/inputs") as f:
    shards = sum(1 for _ in f)
parts = int(os.environ.get("PARTS", shards))


@ray.remote(max_retries=3, retry_exceptions=True)
def step(*words, **more):
    command = ["bash", here + "/job.sh", folder, *map(str, words)]
    subprocess.run(command, check=True, env=os.environ | more)


def each(name, n):
    ray.get([step.remote(name, i + 1, PARTS=str(parts), FIRSTSEEN_JOBS="1") for i in range(n)])


ray.init()
each("features", shards)
each("marks", parts)
ray.get(step.remote("decide"))
each("kept", shards)
