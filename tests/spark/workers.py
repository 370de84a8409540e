"""Workers of Spark that begin with all that they need: each would import it by itself, for seconds."""

from pyspark import daemon

from microagg.engines.spark import distribution, key_kinds
from microagg.verify import frame_release

NEEDED = (distribution, key_kinds, frame_release)

if __name__ == "__main__":
    daemon.manager()
