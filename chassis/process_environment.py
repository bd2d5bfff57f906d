"""Sets what native libraries read when they are loaded; import it before anything else.

Threads of OpenMP that spin while they wait cost a small machine far more than they bring. gRPC's
core writes remarks of its own to standard error, between the lines of a log that is JSON.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
os.environ.setdefault("GRPC_VERBOSITY", "ERROR")
