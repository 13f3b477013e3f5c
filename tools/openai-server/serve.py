"""Serves a GGUF model over the OpenAI API on a free port of this machine.

Usage: serve.py MODEL.gguf [API_KEY]

Prints the base URL on one line once it answers, and ends when its standard
input is closed, so that it never outlives the test that started it.
"""

import sys

import xllamacpp

params = xllamacpp.CommonParams()
params.model.path = sys.argv[1]
params.model_alias = {"smollm2"}
params.hostnames = ["127.0.0.1"]
params.port = 0
params.n_ctx = 2048
params.n_parallel = 2
# One thread: several wait for each other by spinning, and stand still when a
# neighbour has the cores.
params.cpuparams.n_threads = 1
params.cpuparams_batch.n_threads = 1
params.verbosity = 0
if len(sys.argv) > 2:
    params.api_keys = [sys.argv[2]]

server = xllamacpp.Server(params)
print(server.listening_address + "/v1", flush=True)
sys.stdin.read()
