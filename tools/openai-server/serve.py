"""Serves a GGUF model over the OpenAI API on a free port of this machine.

Usage: serve.py MODEL.gguf [API_KEY]

Prints the base URL on a line when it is ready, and ends when its standard input is
closed, so that it does not outlive the test that started it.
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
# One thread: several spin while they wait for each other, and stall when other
# processes use the cores.
params.cpuparams.n_threads = 1
params.cpuparams_batch.n_threads = 1
params.verbosity = 0
if len(sys.argv) > 2:
    params.api_keys = [sys.argv[2]]

server = xllamacpp.Server(params)
print(server.listening_address + "/v1", flush=True)
sys.stdin.read()
