"""Arrow columns: seals, unseals, reseals and inspects them under a `Keyset`.

The functions are those of the top level of the package: `columns.seal` is `sealcomb.seal_column`, for
example. Columns of libraries other than Polars require `pip install 'sealcomb[columns]'`.

>>> from sealcomb import Keyset, columns
>>> keyset = Keyset.generate()
>>> sealed = columns.seal(notes, keyset, context="people.note")  # doctest: +SKIP
>>> opened = columns.unseal(sealed, keyset, context="people.note", as_type="string")  # doctest: +SKIP
"""

from sealcomb._sealcomb import (
    inspect_column as inspect,
)
from sealcomb._sealcomb import (
    reseal_column as reseal,
)
from sealcomb._sealcomb import (
    seal_column as seal,
)
from sealcomb._sealcomb import (
    unseal_column as unseal,
)
from sealcomb._sealcomb import (
    unseal_column_counted as unseal_counted,
)

__all__ = ["inspect", "reseal", "seal", "unseal", "unseal_counted"]
