"""Edges of the call graph, and the sites whose targets aren't all known. Every list here is closed.

`Edge("app:main", "app:User.save", "app.py", 12, (12, 4, 12, 15), CALL, CERTAIN, "receiver-exact")` says: the call at
line 12 of app.py, made by `main`, runs `User.save`, the only thing it can run, since the receiver is a `User`.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple


class EdgeKind(str, Enum):
    """Call kinds first, then relations (which are no calls)."""

    CALL = "CALL"
    CONSTRUCT = "CONSTRUCT"  # target: the __init__ (or the repository's __new__) that runs; the class if neither
    DISPATCH = "DISPATCH"  # an override reached through a declared receiver
    SUPER = "SUPER"
    PROPERTY = "PROPERTY"
    DUNDER = "DUNDER"
    DECORATOR = "DECORATOR"
    CALLBACK = "CALLBACK"  # library code calls it from here
    DYNAMIC = "DYNAMIC"  # reached by a name or key computed at run time
    REGISTRATION = "REGISTRATION"
    INHERITS = "INHERITS"
    OVERRIDES = "OVERRIDES"
    USES_TYPE = "USES_TYPE"
    READS_ATTRIBUTE = "READS_ATTRIBUTE"
    READS_GLOBAL = "READS_GLOBAL"
    IMPORTS = "IMPORTS"

    def __str__(self) -> str:
        return self.value

    @property
    def is_call(self) -> bool:
        """True for the kinds that mean control passes to the callee."""
        return self in CALL_KINDS


CALL_KINDS = frozenset(
    {
        EdgeKind.CALL, EdgeKind.CONSTRUCT, EdgeKind.DISPATCH, EdgeKind.SUPER, EdgeKind.PROPERTY, EdgeKind.DUNDER,
        EdgeKind.DECORATOR, EdgeKind.CALLBACK, EdgeKind.DYNAMIC,
    }
)  # fmt: skip


class Certainty(str, Enum):
    """`certain`: the only thing this site can call, by the rules. `likely`: one of several that the values admit.
    `possible`: enumerated from dynamic code. A name match alone is never an edge."""

    CERTAIN = "certain"
    LIKELY = "likely"
    POSSIBLE = "possible"

    def __str__(self) -> str:
        return self.value

    @property
    def rank(self) -> int:
        """0 for certain, 1 for likely, 2 for possible."""
        return _RANK[self]


_RANK = {Certainty.CERTAIN: 0, Certainty.LIKELY: 1, Certainty.POSSIBLE: 2}


class Rule(str, Enum):
    """Why an edge is there: the evidence, one word per rule. Documented in docs/precision.md."""

    NAME = "name"  # the name is bound to the definition in this or an enclosing scope
    IMPORT = "import"  # the name was imported
    MODULE_ATTRIBUTE = "module-attribute"  # an attribute of a module object
    RECEIVER_EXACT = "receiver-exact"  # the receiver was made by a constructor call
    RECEIVER_DECLARED = "receiver-declared"  # by an annotation
    RECEIVER_SELF = "receiver-self"  # self or cls
    RECEIVER_INFERRED = "receiver-inferred"  # structural: classes that have every attribute used
    CLASS_ATTRIBUTE = "class-attribute"  # an attribute of a class object
    SUPER = "super"
    CONSTRUCTOR = "constructor"
    CALLABLE_VALUE = "callable-value"  # a function held in a variable, argument, container or return value
    CALLABLE_INSTANCE = "callable-instance"  # __call__
    PROPERTY_GET = "property-get"
    PROPERTY_SET = "property-set"
    PROPERTY_DELETE = "property-delete"
    DESCRIPTOR = "descriptor"
    OPERATOR = "operator"
    ITERATION = "iteration"
    CONTEXT_MANAGER = "context-manager"
    CONVERSION = "conversion"  # str(), len(), print(), f-string …
    DECORATION = "decoration"
    LIBRARY_CALLBACK = "library-callback"  # passed to library code that calls it
    GETATTR_PATTERN = "getattr-pattern"  # getattr with a name of known shape
    IMPORT_PATTERN = "import-pattern"  # import_module with a name of known shape
    REGISTRY = "registry"
    SIGNAL = "signal"  # sent to what was registered as a receiver
    CLASS_CREATION = "class-creation"  # __init_subclass__, __set_name__, metaclass
    JEDI = "jedi"
    BARE_NAME = "bare-name"  # the name-only resolver's rule; never in a typed graph
    BASE_CLASS = "base-class"
    ANNOTATION = "annotation"
    IMPORT_STATEMENT = "import-statement"
    NAME_READ = "name-read"
    ATTRIBUTE_READ = "attribute-read"

    def __str__(self) -> str:
        return self.value


class Reason(str, Enum):
    """Why a site's targets may be incomplete."""

    UNTYPED_RECEIVER = "untyped-receiver"  # nothing is known of the receiver's value
    UNKNOWN_CALLABLE = "unknown-callable"  # nothing is known of the called value
    OUTSIDE_CALLER = "outside-caller"  # the value comes from callers outside the repository
    EXTERNAL_VALUE = "external-value"  # the value comes from a library without types
    UNRESOLVED_IMPORT = "unresolved-import"  # the module was not found
    UNBOUND_NAME = "unbound-name"
    MISSING_ATTRIBUTE = "missing-attribute"  # the receiver is known, the attribute is not
    DYNAMIC_ATTRIBUTE = "dynamic-attribute"  # getattr with a name that can't be enumerated
    DYNAMIC_IMPORT = "dynamic-import"
    DYNAMIC_CODE = "dynamic-code"  # eval, exec, globals()[…]
    WIDENED = "widened"  # too many values; the known half is given
    BUDGET = "budget"
    SYNTAX = "syntax"  # the file could not be read in full

    def __str__(self) -> str:
        return self.value


Site = tuple[int, int, int, int]  # line, column, end line, end column of the call expression; columns in UTF-8 bytes


class Edge(NamedTuple):
    """One arrow. `site` is None for implicit calls and relations; `line` is always there."""

    caller: str
    callee: str
    path: str
    line: int
    site: Site | None
    kind: EdgeKind
    certainty: Certainty
    rule: Rule


class Unresolved(NamedTuple):
    """A site whose targets may be incomplete. `detail` names what was written there (`obj.save`), for people."""

    caller: str
    path: str
    line: int
    site: Site | None
    reason: Reason
    detail: str
