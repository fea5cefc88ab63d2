"""The words of the conflict detector: their tables, as stems (see ``stem``), the stemmer, and how a text is split.

English only. In other languages the detector finds no conflicts, neither right nor wrong ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

TOKEN = re.compile(r"\d+(?:[.,]\d+)*(?![\w-])|\w(?:[\w./+#'-]*[\w+#])?|,")
NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


def stem(word: str) -> str:
    """A word without plural, tense and final ``e``: ``retries``, ``retried`` and ``retrying`` have one stem."""
    for ending, stands_for, shortest in (("ies", "y", 5), ("ied", "y", 5), ("ing", "", 6), ("ed", "", 5)):
        if word.endswith(ending) and len(word) >= shortest:
            return _undouble(word[: -len(ending)] + stands_for)
    if word.endswith(("sses", "xes", "ches", "shes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 3:
        word = word[:-1]
    return word[:-1] if word.endswith("e") and len(word) > 3 else word


def _undouble(word: str) -> str:
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lsz":
        return word[:-1]
    return word[:-1] if word.endswith("e") and len(word) > 3 else word


def _stems(words: str | Iterable[str]) -> frozenset[str]:
    return frozenset(stem(word) for word in (words.split() if isinstance(words, str) else words))


NUMBERS = {
    word: number
    for number, words in enumerate(
        "zero one,once two,twice three,thrice four five six seven eight nine ten eleven twelve".split()
    )
    for word in words.split(",")
} | {"fifteen": 15, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "ninety": 90, "hundred": 100}

# Unit -> (kind, factor to the kind's base unit: seconds, bytes, percent, times).
_DAY = 86_400.0
UNITS: dict[str, tuple[str, float]] = {
    **dict.fromkeys(("ms", "millisecond", "milliseconds"), ("time", 0.001)),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), ("time", 1.0)),
    **dict.fromkeys(("min", "mins", "minute", "minutes"), ("time", 60.0)),
    **dict.fromkeys(("h", "hour", "hours"), ("time", 3600.0)),
    **dict.fromkeys(("d", "day", "days"), ("time", _DAY)),
    **dict.fromkeys(("week", "weeks"), ("time", 7 * _DAY)),
    **dict.fromkeys(("month", "months"), ("time", 30 * _DAY)),
    **dict.fromkeys(("year", "years"), ("time", 365 * _DAY)),
    **dict.fromkeys(("byte", "bytes"), ("size", 1.0)),
    **dict.fromkeys(("kb", "kib"), ("size", 1e3)),
    **dict.fromkeys(("mb", "mib"), ("size", 1e6)),
    **dict.fromkeys(("gb", "gib"), ("size", 1e9)),
    **dict.fromkeys(("tb", "tib"), ("size", 1e12)),
    **dict.fromkeys(("percent", "percentage"), ("share", 1.0)),
    **dict.fromkeys(("time", "times", "attempt", "attempts", "try", "tries"), ("times", 1.0)),
}
FREQUENCIES = {
    "hourly": 3600.0,
    "daily": _DAY,
    "nightly": _DAY,
    "weekly": 7 * _DAY,
    "monthly": 30 * _DAY,
    "yearly": 365 * _DAY,
}

# "Phase 2" is a name, not a value that may change.
LABELS = frozenset(
    "phase step release sprint milestone issue ticket plan adr pr rfc section chapter stage level tier option part"
    " round wave iteration quarter decision item task case topic question note figure table job test number".split()
)
FINITE = frozenset(  # words with which what is said of a thing begins, not what it is: "Server 3 runs"
    "has is was does runs holds keeps uses ends starts begins gets goes takes stores serves needs pays lasts costs"
    " closes opens owns sends returns belongs stays contains comes works"
    " are were have had do did must may might can could shall should will would need we they you it he she i".split()
)
CLAUSE_STARTS = frozenset("if when where while that which who because unless until since and or so ,".split())
HTTP_WORDS = frozenset("response responses status error errors code codes reply replies answer answers http".split())

STOP_WORDS = frozenset(
    "a an the this that these those its it we our us they their them you your i he she all any each every both some"
    " is are be been being was were am will would shall should must may might can could do does did has have had"
    " and or so then now always only just still already currently explicitly simply again very also too well anyway"
    " most least up about around roughly exactly here there longer more than yet by-default please otherwise"
    " anymore further what how why whose first last next other others another own same such thing things"
    " one ones new".split()
)
NEGATIONS = frozenset("not never no none nothing avoid avoids avoiding avoided stop stops stopping stopped nor".split())
ADDITIONS = frozenset("also additionally besides too alongside addition well fallback optionally secondary".split())

PREPOSITIONS = frozenset(
    "for in on at to from with by as of under over into onto via through using after before during when while if unless"
    " except within without per between against until behind inside outside upon whenever where which who than"
    " because".split()
)
_WITHOUT_MEANING = {",", "reversing", "instead"}.union(STOP_WORDS, NEGATIONS, PREPOSITIONS, ADDITIONS)


def carries_meaning(word: str) -> bool:
    """Whether a word says something of the matter."""
    return word not in _WITHOUT_MEANING


# These exclude or take one side, so that the same words behind another preposition have another meaning.
SIDED_PREPOSITIONS = frozenset(
    "without except unless outside inside against until before after over under from".split()
)
# Prepositions of manner; the words behind the others say where, when or for what a statement holds.
MANNER_PREPOSITIONS = frozenset("with by via through using as into per".split())
PLACE_PREPOSITIONS = frozenset("in on at to inside into onto under with via through as by using".split())

# Verbs of choice: two different choices for the same purpose exclude each other.
CHOOSING = _stems(
    "use choose chose chosen pick select adopt prefer take standardise standardize settle rely stick go went decide"
    " decided agreed agree".split()
)
LIGHT_VERBS = CHOOSING | _stems(
    "make set get let want need put value way old default reach hit exceed become happen".split()
)
# Words in front of an amount: "Wait 5 seconds", not a thing with a number.
COUNTING = _stems(
    "allow bring buy cap charge expect give hold hire keep limit load max maximum min minimum offer order pay require"
    " reserve retain retry run sell send serve show spend total wait average".split()
)
# Verbs whose object has one place or one means.
EXCLUSIVE = _stems(
    "store keep save persist host deploy write written live lie configure render base authenticate hash sign encrypt"
    " serialise serialize format license publish package implement build run-on name return send validate generate"
    " document maintain track manage read parse compile".split()
)
ADDING = _stems("support add allow accept include offer provide introduce ship test export import".split())
# Verbs that change an amount; an extra one does not change the subject.
CHANGING = _stems("raise lower increase reduce decrease extend shorten change bump cut double halve move go".split())
FORBIDDING = _stems("forbid forbidden prohibit prohibited disallow disallowed ban banned".split())
_PREFIXES = ("in", "un", "non-", "non", "im", "ir", "il", "dis", "de")  # they make the opposite of a word
_MIN_CHARACTERS = 4  # characters; the prefixes are tried only on longer words
DROPPING = _stems("drop remove abandon retire ditch deprecate discontinue delete scrap".split())
# Properties, which have one value: "The default branch is main".
PROPERTIES = _stems(
    "branch language license licence name owner format framework database encoding title colour color font theme order"
    " strategy protocol engine provider backend source host port domain prefix suffix separator maintainer approach"
    " default".split()
) | {"default"}
# Components, which may use many tools, so that two tools need not exclude each other.
COMPONENTS = _stems(
    "extension app application project service server client backend frontend worker bridge web site page module"
    " package library product system code team repository user interface api cli tool component build pipeline".split()
)

_SYNONYMS = {
    "expire": "timeout lifetime ttl expiry expiration", "limit": "maximum max cap ceiling", "store": "save persist",
    "config": "configuration setting settings", "database": "db", "repository": "repo", "postgres": "postgresql",
    "javascript": "js", "typescript": "ts", "kubernetes": "k8s", "end-to-end": "e2e", "login": "log-in sign-in signin",
    "asynchronously": "asynchronous async", "synchronously": "synchronous sync", "live": "lie lies lying",
    "write": "written wrote", "send": "sent", "build": "built", "hold": "held", "show": "shown display",
    "take": "taken", "run": "ran start begin launch",
    "require": "required mandatory", "environment": "env", "development": "dev", "request": "req",
    "production": "prod", "forbid": "forbidden", "administrator": "admin", "block": "blocking", "image": "picture",
}  # fmt: skip
SYNONYMS = {stem(other): stem(word) for word, others in _SYNONYMS.items() for other in others.split()}


def canonical(token: str) -> str:
    """The form of a word in the tables: its stem, or that of its synonym there."""
    token_stem = stem(token)
    return SYNONYMS.get(token_stem, token_stem)


_Opposites = dict[str, frozenset[str]]


def _pairs(table: str) -> _Opposites:
    """The table of ``one/other,another`` entries as stem -> counterparts, in both directions."""
    counterparts: dict[str, set[str]] = {}
    for entry in table.split():
        one, others = entry.split("/")
        for other in others.split(","):
            counterparts.setdefault(stem(one), set()).add(stem(other))
            counterparts.setdefault(stem(other), set()).add(stem(one))
    return {word: frozenset(others) for word, others in counterparts.items()}


# Actions and those that undo them.
OPPOSITE_ACTIONS = _pairs(
    "enable/disable allow/forbid,deny,block,prohibit,disallow,reject permit/forbid,deny,prohibit require/optional"
    " add/remove,drop,delete keep/remove,drop,delete,discard,split,replace accept/reject,refuse show/hide join/split"
    " include/exclude start/stop lock/unlock merge/rebase increase/decrease,reduce raise/lower,reduce grow/shrink"
    " pause/resume connect/disconnect edit/immutable"
)
# States. In front of a noun, a state selects a thing ("local files"), so there it is no opposite.
_OPPOSITE_STATES = _pairs(
    "on/off public/private,internal synchronously/asynchronously opt-in/opt-out open/closed strict/lenient,loose"
    " manual/automatic manually/automatically eager/lazy eagerly/lazily mutable/immutable centralised/decentralised"
    " ascending/descending visible/hidden plain/encrypted blocking/non-blocking local/remote locally/remotely"
    " shared/separate together/apart foreground/background single/multiple"
)


@cache
def opposite_states_of(word: str) -> frozenset[str]:
    """The stems of the opposite states, by table and by prefix: ``insensitive`` for ``sensitive``."""
    longer = {prefix + word for prefix in _PREFIXES if len(word) > _MIN_CHARACTERS}
    shorter = {word.removeprefix(p) for p in _PREFIXES if word.startswith(p) and len(word) - len(p) > _MIN_CHARACTERS}
    return _OPPOSITE_STATES.get(word, frozenset()) | longer | shorter


# Words that select a thing; a text with an extra one has another meaning.
SELECTING = _stems(
    "left right top bottom upper lower first last start end read write upload download client server input output"
    " minimum maximum source target before after staging production development test local remote admin public private"
    " parent child new old internal external mobile desktop windows linux macos"
)

# Words that negate or weaken a statement. English negations are in NEGATIONS. Those of other languages are listed here,
# since embeddings hardly reflect them.
WEAKENING = _stems(
    "almost barely eventually half hardly nearly occasionally partially partly rarely scarcely seldom sometimes"
    " temporarily"
    " nicht nichts kein keine keinen keinem keiner nie niemals ohne niet geen nooit zonder inte ingen aldrig ikke aldri"
    " ne pas jamais aucun aucune sans nunca sin ningún ninguna não nao nenhum nenhuma sem non mai nessun nessuna senza"
    " не нет ни никогда без nikdy bez nem soha ei değil yok 안".split()
)

_CLASSES = (
    "postgres mysql mariadb sqlite mongodb cassandra dynamodb oracle cockroachdb duckdb clickhouse firestore couchdb",
    "redis memcached valkey hazelcast lru",
    "rabbitmq kafka sqs nats pulsar celery huey sidekiq zeromq activemq",
    "javascript typescript python rust golang java kotlin ruby swift scala elixir php dart",
    "jest vitest mocha jasmine ava", "pytest unittest nose", "playwright cypress selenium puppeteer webdriver",
    "black yapf prettier biome dprint", "eslint tslint pylint flake8 ruff",
    "npm pnpm yarn bun", "pip poetry pipenv uv conda", "webpack vite rollup esbuild parcel turbopack",
    "react vue angular svelte solid ember preact", "django flask fastapi rails laravel express koa fastify",
    "rest graphql grpc soap", "json xml yaml toml protobuf msgpack csv ini", "mit apache-2.0 gpl bsd mpl agpl lgpl",
    "bcrypt argon2 scrypt pbkdf2 sha-256 md5 sha-1", "jwt session-cookie session-cookies", "oauth saml ldap api-key",
    "aws azure gcp heroku", "kubernetes nomad docker-swarm ecs", "jenkins github-actions gitlab-ci circleci travis",
    "git mercurial svn", "tabs spaces", "faiss lancedb pinecone qdrant milvus weaviate pgvector chroma",
    "terraform pulumi cloudformation ansible", "nginx caddy apache traefik haproxy", "utc localtime",
    "linux windows macos", "websocket sse polling webhook", "gzip brotli zstd lz4",
)  # fmt: skip
# Stem -> number of its class; things of one class usually replace each other.
CLASS_OF = {canonical(word): number for number, words in enumerate(_CLASSES) for word in words.split()}
