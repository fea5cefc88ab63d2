r"""The forms of providers' tokens: of secrets that are recognised without a name beside them.

Each form is two words: the characters that the token begins with, and an expression for what follows them. A form that
begins otherwise is ``*``, then characters that every such token contains, then an expression for the whole token.
``<uuid>`` is a UUID. Only texts with these characters are searched. Every expression is bounded, or its one unbounded
repetition is possessive and last, so that a search takes linear time.

The forms are what the providers' own pages say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple

# {kind: {provider: forms}}. A token may be longer than its form: what follows of the same characters goes too.
FORMS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "aws-access-key": {
        "Amazon Bedrock": ("ABSK [A-Za-z0-9+/]{100,}+={0,2}", "bedrock-api-key- [A-Za-z0-9+/]{60,}+={0,2}"),
        "Amazon MWS": (r"amzn.mws. <uuid>",),
    },
    "azure-key": {
        "Azure": (
            "* JQQJ9 [A-Za-z0-9]{52}JQQJ9[A-Za-z0-9]{27}", "* AZDO [A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}",
            # Keys with a mark of their service: storage, Cosmos DB, search, functions, registry, devices, events.
            r"* ASt [A-Za-z0-9+/]{76}\+ASt[A-Za-z0-9+/]{6}={0,2}",
            "* ACDb [A-Za-z0-9+/]{76}ACDb[A-Za-z0-9+/]{6}={0,2}",
            "* AzSe [A-Za-z0-9]{42}AzSe[A-Za-z0-9]{6}", r"* AzFu [\w-]{44}AzFu[\w-]{6}={0,2}",
            r"* ACR [A-Za-z0-9+/]{42}\+ACR[A-Za-z0-9]{6}", r"* AIoT [A-Za-z0-9+/]{33}AIoT[A-Za-z0-9+/]{6}=?",
            r"* AEh [A-Za-z0-9+/]{33}\+AEh[A-Za-z0-9+/]{6}=?", r"* ASb [A-Za-z0-9+/]{33}\+ASb[A-Za-z0-9+/]{6}=?",
            r"* .Ag [01]\.A[\w-]{50,200}+(?:\.\d)?\.Ag[\w-]{100,}+",
        ),
    },
    "github-token": {
        "GitHub": (
            "ghp_ [A-Za-z0-9]{36}", "gho_ [A-Za-z0-9]{36}", "ghu_ [A-Za-z0-9]{36}", "ghs_ [A-Za-z0-9]{36}",
            "ghr_ [A-Za-z0-9]{36}", r"github_pat_ \w{22}", r"ghs_ \d{1,12}_eyJ[\w.-]{20,}+",
        ),
    },
    "gitlab-token": {
        "GitLab": (
            r"glpat- [\w-]{20,300}+(?:\.[0-9a-z]{2}(?:\.[\w-]{7,12}|[0-9a-z]{7}))?",
            r"glrt- [\w-]{20,300}+(?:\.[0-9a-z]{2}(?:\.[\w-]{7,12}|[0-9a-z]{7}))?",
            r"gldt- [\w-]{20}", r"glft- [\w-]{20}", r"glffct- [\w-]{20}", r"glwt- [\w-]{20}", r"glsoat- [\w-]{20}",
            r"glrtr- [\w-]{20}", r"glcbt- [\w-]{20}", r"glimt- [\w-]{25}", r"glptt- [\w-]{40}", r"glagent- [\w-]{50}",
            r"gloas- [\w-]{20}", r"GR1348941 [\w-]{20}", "_gitlab_session= [a-z0-9]{32}",
        ),
    },
    "anthropic-key": {"Anthropic": (r"sk-ant- [\w-]{20}",)},
    "openai-key": {
        "OpenAI": (
            r"sk-proj- [\w-]{20}", r"sk-svcacct- [\w-]{20}", r"sk-admin- [\w-]{20}", r"sk-None- [\w-]{20}",
            "sess- [A-Za-z0-9]{40}",
            "sk- [A-Za-z0-9]{32}",  # the earlier form, which others have adopted
        ),
    },
    "google-key": {
        "Google": (
            r"AIza [\w-]{35}", r"GOCSPX- [\w-]{24}", r"ya29. [\w-]{11}", r"1//0 [\w-]{40}", r"AQ.Ab8 [\w-]{40}",
            "GOOG1 [A-Z0-9]{56}",
        ),
    },
    "huggingface-token": {"Hugging Face": ("hf_ [A-Za-z0-9]{30}", "api_org_ [A-Za-z0-9]{30}")},
    "ai-provider-key": {
        "Groq": ("gsk_ [A-Za-z0-9]{40}",),
        "xAI": ("xai- [A-Za-z0-9]{40}",),
        "Perplexity": ("pplx- [A-Za-z0-9]{40}",),
        "Replicate": ("r8_ [A-Za-z0-9]{37}",),
        "NVIDIA": (r"nvapi- [\w-]{40}",),
        "Tavily": ("tvly- (?:dev-|prod-)?[A-Za-z0-9]{20}",),
        "LangSmith": (r"lsv2_ (?:pt|sk)_[a-f0-9_]{40}",),
        "Pinecone": (r"pcsk_ \w{40}",),
        "OpenRouter": ("sk-or-v1- [a-f0-9]{32}",),
        "Langfuse": ("sk-lf- [a-f0-9-]{32}",),
        "Fireworks": ("fw_ [A-Za-z0-9]{22}",),
        "Together": (r"tgp_v1_ [\w-]{40}",),
        "LlamaCloud": (r"llx- [\w-]{40}",),
        "ElevenLabs": ("sk_ [a-f0-9]{48}",),
        "Cerebras": ("csk- [a-z0-9]{40}",),
        "Jina": (r"jina_ [\w-]{50}",),
        "Firecrawl": ("fc- [a-f0-9]{32}",),
        "E2B": ("e2b_ [a-f0-9]{40}",),
        "RunPod": ("rpa_ [A-Z0-9]{40}",),
        "Mem0": ("m0- [A-Za-z0-9]{40}",),
        "Anyscale": (r"esecret_ [\w-]{20}",),
        "Browserbase": (r"bb_live_ [\w-]{20}",),
        "Weights & Biases": (r"wandb_v1_ \w{40}",),
        "Databricks": ("dapi [a-fA-F0-9]{32}", "dose [a-fA-F0-9]{32}"),
        "Cursor": ("crsr_ [a-f0-9]{60}", "key_ [a-f0-9]{64}"),
        "Friendli": ("flp_ [A-Za-z0-9]{40}",),
        "Helicone": (r"sk-helicone- [\w-]{20}",),
        "Cartesia": ("sk_car_ [A-Za-z0-9]{20}",),
        "Freepik": ("FPSX [a-f0-9]{32}",),
        "Upstage": ("up_ [A-Za-z0-9]{28}",),
    },
    "slack-token": {
        "Slack": (
            "* xox xox[a-z]-[A-Za-z0-9-]{11}", r"* xoxe. xoxe\.xox[bp]-[A-Za-z0-9-]{20}",
            r"xapp- [A-Za-z0-9-]{11,}+",
            "* /B /T[A-Z0-9]{8,12}/B[A-Z0-9]{8,12}/[A-Za-z0-9]{20}",  # of a webhook, without its host
            r"* hooks.slack.com (?:https?://)?hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9+/_]{20,}+",
        ),
    },
    "stripe-key": {
        "Stripe": (
            "sk_live_ [A-Za-z0-9]{10}", "sk_test_ [A-Za-z0-9]{10}", "sk_prod_ [A-Za-z0-9]{10}",
            "rk_live_ [A-Za-z0-9]{10}", "rk_test_ [A-Za-z0-9]{10}", "rk_prod_ [A-Za-z0-9]{10}",
            "whsec_ [A-Za-z0-9+/]{30,}+",
        ),
    },
    "npm-token": {"npm": ("npm_ [A-Za-z0-9]{36}",)},
    "pypi-token": {"PyPI": (r"pypi-AgE [\w-]{50}",)},
    "sendgrid-key": {"SendGrid": (r"SG. [\w-]{16,32}\.[\w-]{16}", r"SG. (?!\S{0,65}\.\.)[\w=.-]{66}")},
    "square-secret": {"Square": (r"* sq0 sq0[a-z]{3}-[\w-]{22}",)},
    "discord-token": {
        "Discord": (
            r"mfa. [\w-]{84}",
            r"* . [MNO][\w-]{23,25}\.[\w-]{6}\.[\w-]{27}",
            r"* /api/webhooks/ (?:https?://)?(?:ptb\.|canary\.)?discord(?:app)?\.com/api/webhooks/\d{15,20}/[\w-]{60}",
        ),
    },
    "artifactory-key": {"Artifactory": ("AKC [A-Za-z0-9]{13}", "cmVmdGtu [A-Za-z0-9]{40}")},
    "service-token": {
        "Shopify": tuple(
            f"{prefix}_ [A-Za-z0-9]{{32}}" for prefix in ("shpat", "shpca", "shppa", "shpss", "shptka", "shpua")
        ),
        "Atlassian": (r"ATATT3 [\w=-]{50,}+", r"ATCTT3 [\w=-]{50,}+", r"ATSTT3 [\w=-]{50,}+"),
        "Bitbucket": ("ATBB [A-Za-z0-9]{32}", r"BBDC- [\w+/@-]{40,}+"),
        "Postman": ("PMAK- [a-f0-9]{24}-[a-f0-9]{34}", "PMAT- [A-Z0-9]{26}"),
        "New Relic": (
            "NRAK- [A-Z0-9]{27}", r"NRII- [\w-]{25}", "NRBR- [a-f0-9]{19}", "NRJS- [a-f0-9]{19}",
            "NRRA- [a-f0-9]{42}", "NRAA- [a-f0-9]{27}", r"NRIQ- [\w-]{25}", "px-api- <uuid>",
            "px-dep- <uuid>",
            "* NRAL [A-Za-z0-9]{36}NRAL", "* -NRMA [A-Za-z0-9]{42}-NRMA",
        ),
        "Grafana": (r"glsa_ \w{32}", r"glc_ [\w+/=]{32,}+", "eyJrIjoi [A-Za-z0-9]{40,}+={0,2}"),
        "Docker": (
            r"dckr_pat_ [\w-]{20}", r"dckr_oat_ [\w-]{20}", "SWMTKN-1- [a-z0-9-]{40}", "SWMKEY-1- [A-Za-z0-9+/]{40}",
        ),
        "RubyGems": ("rubygems_ [a-z0-9]{48}",),
        "DigitalOcean": ("dop_v1_ [a-f0-9]{64}", "doo_v1_ [a-f0-9]{64}", "dor_v1_ [a-f0-9]{64}"),
        "Vault": (r"hvs. [\w-]{24}", r"hvb. [\w-]{24}", r"hvr. [\w-]{24}"),
        "Doppler": (r"dp. (?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]{1,35}\.)?[A-Za-z0-9]{40}",),
        "Linear": ("lin_api_ [A-Za-z0-9]{40}", "lin_oauth_ [A-Za-z0-9]{40}"),
        "Notion": ("ntn_ [A-Za-z0-9]{40}",),
        "Supabase": ("sbp_ (?:v0_|oauth_)?[a-f0-9]{40}", r"sb_secret_ [\w-]{20}"),
        "Sentry": (r"sntrys_ [\w=+/]{40,}+", "sntryu_ [a-f0-9]{64}", "sntrya_ [a-f0-9]{64}"),
        "Cloudflare": (
            "cfut_ [A-Za-z0-9]{40}", "cfat_ [A-Za-z0-9]{40}", "cfk_ [A-Za-z0-9]{40}",
            "v1.0- [a-f0-9]{24}-[a-f0-9]{146}",
        ),
        "Figma": (r"figd_ [\w-]{36}", r"figu_ [\w-]{36}", r"figp_ [\w=-]{36,}+"),
        "Netlify": tuple(f"{prefix}_ [A-Za-z0-9]{{36}}" for prefix in ("nfp", "nfc", "nfo", "nfb", "nfu")),
        "Vercel": tuple(f"{prefix}_ [A-Za-z0-9]{{20}}" for prefix in ("vcp", "vci", "vca", "vcr", "vck")),
        "PlanetScale": (r"pscale_ (?:tkn|oauth|pw|otk)_[\w=.-]{32,}+",),
        "Dynatrace": (r"dt0 [a-z]\d\d\.[A-Za-z0-9]{8,24}\.[A-Za-z0-9]{64}",),
        "Pulumi": ("pul- [a-z0-9]{40}",),
        "Fly.io": (
            r"fo1_ [\w-]{43}", "fm1a_ [A-Za-z0-9+/_]{60,}+={0,3}", "fm1r_ [A-Za-z0-9+/_]{60,}+={0,3}",
            "fm2_ [A-Za-z0-9+/_]{60,}+={0,3}",
        ),
        "HubSpot": (r"pat- [a-z]{2,4}\d-<uuid>",),
        "Tailscale": ("tskey- [a-z]{2,12}-[A-Za-z0-9-]{20}",),
        "SonarQube": ("squ_ [a-z0-9]{40}", "sqp_ [a-z0-9]{40}", "sqa_ [a-z0-9]{40}"),
        "Brevo": ("xkeysib- [a-f0-9]{64}-[A-Za-z0-9]{16}", "xsmtpsib- [a-f0-9]{64}-[A-Za-z0-9]{16}"),
        "CircleCI": (r"CCIPAT_ \w{40}", r"CCIPRJ_ \w{40}"),
        "1Password": (
            "ops_eyJ [A-Za-z0-9+/_=-]{100,}+",
            "A3- [A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5}",
        ),
        "Heroku": ("HRKU- <uuid>", r"HRKU-AA [\w-]{58}"),
        "Dropbox": (r"sl. (?:u\.)?[\w-]{60,}+=?",),
        "PostHog": tuple(f"{prefix}_ [A-Za-z0-9]{{40}}" for prefix in ("phx", "phs", "phc", "pha", "phr", "php")),
        "Terraform": (r"* .atlasv1. [A-Za-z0-9]{14}\.atlasv1\.[\w=-]{60,}+",),
        "OpenShift": (r"sha256~ [\w-]{43}",),
        "Prefect": ("pnu_ [A-Za-z0-9]{36}", "pnb_ [A-Za-z0-9]{36}"),
        "Sourcegraph": (
            "sgp_ (?:[a-fA-F0-9]{16}_|local_)?[a-fA-F0-9]{40}", "slk_ [a-fA-F0-9]{40}", "sgs_ [a-fA-F0-9]{40}",
        ),
        "Shippo": ("shippo_ (?:live|test)_[a-fA-F0-9]{40}",),
        "EasyPost": ("EZAK [A-Za-z0-9]{54}", "EZTK [A-Za-z0-9]{54}"),
        "Duffel": (r"duffel_ (?:test|live)_[\w=-]{43,}+",),
        "Frame.io": (r"fio-u- [\w=-]{60,}+",),
        "ReadMe": ("rdme_ [a-z0-9]{64}",),
        "Scalingo": (r"tk-us- [\w-]{48}",),
        "SettleMint": ("sm_ (?:aat|pat|sat)_[A-Za-z0-9]{16}",),
        "42": ("s-s4t2 (?:ud|af)-[a-f0-9]{64}", "u-s4t2 (?:ud|af)-[a-f0-9]{64}"),
        "Clojars": ("CLOJARS_ [A-Za-z0-9]{60}",),
        "Flutterwave": ("FLWSECK (?:_TEST)?-[a-z0-9]{12}(?:[a-z0-9]{20}-X)?",),
        "Harness": (
            r"pat. [\w-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}", r"sat. [\w-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}",
        ),
        "Adobe": ("p8e- [A-Za-z0-9]{32}",),
        "Authress": (
            r"* .acc (?:sc|ext|scauth|authress)_[A-Za-z0-9]{5,30}\.[A-Za-z0-9]{4,6}\.acc[_-][a-z0-9-]{10,32}"
            r"\.[\w+/=-]{30,}+",
        ),
        "Microsoft Teams": (
            r"* .webhook.office.com (?:https://)?[a-z0-9-]{1,60}\.webhook\.office\.com/webhookb2/<uuid>@<uuid>"
            r"/IncomingWebhook/[a-z0-9]{32}/<uuid>(?:/[\w-]{20,}+)?",
            "* outlook.office.com/webhook/ (?:https://)?outlook\\.office\\.com/webhook/<uuid>@<uuid>"
            "/IncomingWebhook/[a-z0-9]{32}/<uuid>",
        ),
        "WunderGraph": ("cosmo_ [a-f0-9]{32}",),
        "Instagram": (r"IGQV [\w-]{60}", r"IGQW [\w-]{60}", "IGAA [A-Za-z0-9]{60}"),
        "Salesforce": (r"3MVG [\w.]{60,}+", r"00D [A-Za-z0-9]{12,15}![\w.]{20,}+", r"5Aep [\w.]{60,}+"),
        "Contentful": (r"CFPAT- [\w-]{43}",),
        "Buildkite": ("bkua_ [a-z0-9]{40}", "bkaj_ [a-z0-9]{40}", "bkct_ [a-z0-9]{40}"),
        "Snyk": (r"snyk_ [a-z]{3}\.[\w.-]{40,}+",),
        "Typeform": (r"tfp_ [\w.=-]{40,}+",),
        "WakaTime": ("waka_ <uuid>",),
        "MongoDB Atlas": (r"mdb_sa_sk_ [\w-]{40}",),
        "PubNub": (r"sec-c- [\w-]{30}",),
        "Segment": ("sgp_ [A-Za-z0-9]{64}",),
        "Voiceflow": (r"VF. (?:(?:DM|WS)\.)?[a-fA-F0-9]{24}\.[A-Za-z0-9]{16}",),
        "Mapbox": (r"sk.eyJ [\w-]{20,200}+\.[\w-]{20}", r"tk.eyJ [\w-]{20,200}+\.[\w-]{20}"),
        "Plaid": ("access- (?:sandbox|development|production)-<uuid>",),
        "Deno": ("ddp_ [A-Za-z0-9]{36}", "ddo_ [A-Za-z0-9]{36}"),
        "Render": ("rnd_ [A-Za-z0-9]{28}",),
        "Neon": ("napi_ [a-z0-9]{40}", "npg_ [A-Za-z0-9]{12}"),
        "Resend": ("re_ [A-Za-z0-9]{8}_[A-Za-z0-9]{20}",),
        "NuGet": ("oy2 [a-z0-9]{43}",),
        "Packagist": ("packagist_ [a-z]{3}_[a-f0-9]{68}",),
        "Adafruit": ("aio_ [A-Za-z0-9]{28}",),
        "CockroachDB": (r"CCDB1_ \w{40}",),
        "Zuplo": (r"zpka_ \w{32}",),
        "StackHawk": (r"hawk. [\w-]{20}\.[\w-]{20}",),
        "Inngest": ("signkey- (?:prod|test|branch)-[a-f0-9]{32}",),
        "Trigger.dev": ("tr_ (?:dev|prod|stg)_[A-Za-z0-9]{20}",),
        "JetBrains": (r"* perm perm[:-][A-Za-z0-9+/=]{8,64}\.[A-Za-z0-9+/=]{4,64}\.[\w+/=-]{20,}+",),
        "Rootly": ("rootly_ [a-f0-9]{64}",),
        "Nostr": ("nsec1 [a-z0-9]{58}",),
        "NATS": ("* S S[ACNOUX][A-Z2-7]{56}",),
        "NTLM": ("TlRMTVNTUAA [A-Za-z0-9+/]{20,}+={0,2}",),
        "X": ("AAAAAAAAAAAAAAAAAAAAA [A-Za-z0-9%]{40,}+",),
        "BIP 32": ("xprv [A-Za-z0-9]{100}",),
        "Asana": ("* : [0-9]/[0-9]{16}(?:/[0-9]{10,20})?:[a-f0-9]{32}",),
        "Zapier": (r"* hooks.zapier.com (?:https://)?hooks\.zapier\.com/hooks/catch/[0-9]{4,12}/[a-z0-9]{5}",),
        "DevCycle": (r"dvc_server_ [\w-]{20}",),
        "Alibaba": ("LTAI [A-Za-z0-9]{12}",),
        "Tencent": ("AKID [A-Za-z0-9]{32}",),
        "Baidu": ("ALTAK [A-Za-z0-9]{20}",),
        "AWS AppSync": ("da2- [a-z0-9]{26}",),
        "Adyen": (r"AQE [a-z]h[\w+/=-]{60,}+",),
        "Aiven": (r"AVNS_ [\w-]{19}",),
        "Alchemy": ("alcht_ [A-Za-z0-9]{30}",),
        "Apify": ("apify_api_ [A-Za-z0-9]{30}",),
        "Bannerbear": ("bb_pr_ [a-f0-9]{30}", "bb_ma_ [a-f0-9]{30}"),
        "Braintree": (r"access_token$ (?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-z]{32}",),
        "Canva": (r"cnvca [\w-]{40}",),
        "Cashfree": (r"cfsk_ma_ (?:prod|test)_[a-f0-9]{32}",),
        "ClickUp": (r"pk_ \d{7,9}_[A-Z0-9]{32}",),
        "Coralogix": ("cxtp_ [A-Za-z0-9]{30}", "cxup_ [A-Za-z0-9]{30}"),
        "DeepL": ("* :fx <uuid>:fx",),
        "Defined Networking": (r"dnkey- [\w=-]{20,}+",),
        "Dependency-Track": ("odt_ [A-Za-z0-9]{32}",),
        "Endor Labs": (r"endr+ [A-Za-z0-9-]{16}",),
        "Firebase": (r"* :APA91b [\w-]{7,22}:APA91b[\w-]{100}",),
        "Flexport": (r"shltm_ [\w-]{40}",),
        "Fleetbase": ("flb_live_ [A-Za-z0-9]{20}",),
        "Harvest": (r"* .pt. \d{4,9}\.pt\.[\w-]{60,}+",),
        "Honeycomb": ("hcaik_ [a-z0-9]{50}", "hcaic_ [a-z0-9]{50}", "hcamk_ [a-z0-9]{50}", "hcxik_ [a-z0-9]{50}"),
        "Intercom": ("dG9rO [A-Za-z0-9+/]{46,}+={0,2}",),
        "Ionic": ("ion_ [A-Za-z0-9]{42}",),
        "Klaviyo": ("pk_ [a-f0-9]{34}",),
        "Lichess": ("lip_ [A-Za-z0-9]{20}",),
        "LocalStack": (r"ls- [A-Za-z]{8}-[0-9]{4}-[0-9]{4}-[0-9]{4}-[a-z0-9]{12}",),
        "LogicMonitor": (r"lmb_ [\w+/=-]{50,}+",),
        "MailerSend": ("mlsn. [a-f0-9]{64}",),
        "Nightfall": ("NF- [A-Za-z0-9]{32}",),
        "Nylas": ("nyk_v0_ [A-Za-z0-9]{64}",),
        "Onfido": (r"api_live. [\w.-]{20,}+", r"api_sandbox. [\w.-]{20,}+", r"api_live_ [a-z]{2}\.[\w.-]{20,}+"),
        "Paddle": ("pdl_ (?:live|sdbx)_apikey_[a-z0-9]{26}_[A-Za-z0-9]{22}_[A-Za-z0-9]{3}",),
        "Pagar.me": ("ak_live_ [A-Za-z0-9]{30}", "ak_test_ [A-Za-z0-9]{30}"),
        "Persona": ("persona_ (?:sandbox|production)_<uuid>",),
        "Pinterest": (r"pina_ [A-Z0-9]{60}",),
        "Polar": (r"polar_ [a-z]{2,6}_[A-Za-z0-9]{30}",),
        "Portainer": ("ptr_ [A-Za-z0-9+/]{40,}+={0,2}",),
        "Ramp": ("ramp_sec_ [A-Za-z0-9]{40}", "ramp_tok_ [A-Za-z0-9]{40}"),
        "Recharge": ("* sk_ sk_(?:test|[0-9]{1,2}x[0-9]{1,2})_[a-f0-9]{64}",),
        "SaladCloud": (r"salad_cloud_ [A-Za-z0-9_]{20}",),
        "Scrapfly": ("scp-live- [a-f0-9]{32}", "scp-test- [a-f0-9]{32}"),
        "Shutterstock": (r"v2/ [A-Za-z0-9]{388}",),
        "Teamwork": (r"tkn.v1_ [\w=-]{60,}+",),
        "Thunderstore": ("tss_ [A-Za-z0-9]{32}",),
        "Trello": ("ATTA [a-f0-9]{64}",),
        "TruffleHog": ("thog-key- [0-9a-f]{16}", "thog-secret- [0-9a-f]{32}"),
        "Twitch": (r"live_ \d{6,12}_[A-Za-z0-9]{30}",),
        "Unkey": (r"unkey_ [A-Za-z0-9_]{20}",),
        "Volcengine": (r"AKLT [\w-]{40}",),
        "Zoho": (r"1000. [a-f0-9]{32}\.[a-f0-9]{32}",),
        "Akamai": ("akab- [a-z0-9]{16}-[a-z0-9]{16}",),
        "Axiom": ("xaat- <uuid>", "xapt- <uuid>"),
        "Bitwarden": ("0. <uuid>\\.[A-Za-z0-9]{30}:[A-Za-z0-9+/]{22}={0,2}",),
        "Brex": ("bxt_ [A-Za-z0-9]{36}",),
        "Builder": ("bpk- [a-f0-9]{32}",),
        "Chromatic": ("chpt_ [a-z0-9]{14}",),
        "ConfigCat": (r"configcat-sdk-1/ [\w-]{22}/[\w-]{22}",),
        "Courier": ("pk_prod_ [A-Z0-9]{28}",),
        "dbt": (r"dbtc_ [\w=-]{30,}+", r"dbtu_ [\w=-]{30,}+"),
        "DeepSource": ("dsp_ [a-f0-9]{40}",),
        "Depot": ("depot_ (?:project|org|user)_[a-f0-9]{40}",),
        "Elastic": ("essu_ [A-Za-z0-9+/]{40,}+={0,2}",),
        "Exoscale": ("EXO [a-f0-9]{24}",),
        "GitBook": ("gb_api_ [A-Za-z0-9]{40}",),
        "Infisical": (r"st. [a-f0-9]{24}\.[a-f0-9]{32}\.[a-f0-9]{32}",),
        "Kong": ("kpat_ [A-Za-z0-9]{40}", "spat_ [A-Za-z0-9]{40}"),
        "LambdaTest": ("LT_ [A-Za-z0-9]{40}",),
        "LinkedIn": (r"WPL_AP1. [\w.=]{20,}+",),
        "Midtrans": (r"SB-Mid-server- [\w-]{20}", r"Mid-server- [\w-]{20}"),
        "Omise": ("skey_ (?:test_)?[a-z0-9]{19}",),
        "OneSignal": ("os_v2_app_ [a-z0-9]{50}", "os_v2_org_ [a-z0-9]{50}"),
        "Radar": ("prj_live_sk_ [a-f0-9]{40}", "prj_test_sk_ [a-f0-9]{40}"),
        "Razorpay": ("rzp_live_ [A-Za-z0-9]{14}", "rzp_test_ [A-Za-z0-9]{14}"),
        "RFC 8959": (r"secret-token: [\w.~%-]{16,}+",),
        "Robinhood": ("rh-api- <uuid>",),
        "Runway": ("key_ [a-f0-9]{128}",),
        "Scaleway": ("SCW [A-Z0-9]{17}",),
        "Socket": (r"sktsec_ [\w-]{20}",),
        "Stytch": (r"secret-live- [\w-]{30,}+=?", r"secret-test- [\w-]{30,}+=?"),
        "Sumsub": (r"sbx: [A-Za-z0-9]{24}\.[A-Za-z0-9]{32}", r"prd: [A-Za-z0-9]{24}\.[A-Za-z0-9]{32}"),
        "Svix": ("testsk_ [A-Za-z0-9]{20}",),
        "Tines": (
            r"* .tines.com/webhook/ (?:https://)?[\w-]{1,60}\.tines\.com/webhook/[a-z0-9]{32}/[a-z0-9]{32}",
        ),
        "UpCloud": ("ucat_ [A-Z0-9]{26}",),
        "WooCommerce": ("ck_ [a-f0-9]{40}", "cs_ [a-f0-9]{40}"),
        "Xata": ("xau_ [A-Za-z0-9]{30}",),
        "Xendit": ("xnd_production_ [A-Za-z0-9]{20}", "xnd_development_ [A-Za-z0-9]{20}"),
        "Yandex": (r"AQVN [\w-]{35}", r"y0_ [\w-]{50}", r"t1. [\w-]{10,400}+\.[\w-]{80}"),
    },
}  # fmt: skip

# Forms of fixed length whose beginning is too common: the token must not be longer.
EXACT_FORMS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "aws-access-key": {
        "AWS": ("AKIA [A-Z0-9]{16}", "ASIA [A-Z0-9]{16}", "ABIA [A-Z0-9]{16}", "ACCA [A-Z0-9]{16}", "A3T [A-Z0-9]{17}"),
    },
    "azure-key": {"Azure": (r"* Q~ (?<![~.])[\w~.]{3}\dQ~[\w~.-]{31,34}+",)},
    "mailchimp-key": {"Mailchimp": ("* -us [0-9a-z]{32}-us[0-9]{1,2}",)},
    "telegram-token": {"Telegram": (r"* :A \d{5,16}:A[\w-]{33,35}+", r"* : \d{8,10}:[\w-]{35}",)},
    "twilio-key": {
        "Twilio": ("SK [a-z0-9]{32}", "SK [A-Fa-f0-9]{32}", "AC [a-z0-9]{32}", "AC [A-Fa-f0-9]{32}"),
    },
    "artifactory-key": {"Artifactory": ("* AP AP[0-9A-F][A-Za-z0-9]{13,}+", "cmVmd [A-Za-z0-9]{59}")},
    "ai-provider-key": {"Voyage": (r"pa- [\w-]{43}",)},
    "square-secret": {"Square": (r"EAAA [\w-]{22,200}+(?![+/=])",)},
    "service-token": {
        "Facebook": (r"EAA [A-Za-z0-9]{100,400}+(?![+/=])", r"* | \d{12,18}\|[\w-]{24,40}+"),
        "Vault": ("s. [A-Za-z0-9]{24,26}", "b. [A-Za-z0-9]{24,26}", "r. [A-Za-z0-9]{24,26}"),
        "Airtable": (r"pat [A-Za-z0-9]{14}\.[a-f0-9]{64}",),
        "Notion": ("secret_ [A-Za-z0-9]{43}",),
        "Octopus Deploy": ("API- [A-Z0-9]{26}",),
        "Infracost": ("ico- [A-Za-z0-9]{32}",),
        "ClickHouse": ("4b1d [A-Za-z0-9]{38}",),
        "MaxMind": ("* _mmk [A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk",),
        "Mailgun": ("key- [a-f0-9]{32}", "* - [a-f0-9]{32}-[a-f0-9]{8}-[a-f0-9]{8}"),
        "LaunchDarkly": ("sdk- <uuid>", "api- <uuid>"),
        "Checkout.com": ("sk_ (?:test_|sbox_)?<uuid>",),
        "Clearbit": ("sk_ [a-z0-9]{32}",),
        "Close": (r"api_ [A-Za-z0-9]{22}\.[A-Za-z0-9]{22}",),
        "Dropbox": (r"* AAAAAAAAA [\w-]{11}AAAAAAAAA[\w-]{43,46}+",),
        "GoCardless": (r"live_ [\w-]{40,42}+", r"sandbox_ [\w-]{40,42}+"),
        "PagerDuty": (r"u+ [\w+-]{18}",),
        "Sanity": ("sk [A-Za-z0-9]{150,180}+",),
        "Telnyx": (r"KEY [0-9A-F]{30,34}_[A-Za-z0-9]{20,24}",),
        "crates.io": ("cio [A-Za-z0-9]{32}",),
        "Ubidots": ("BBFF- [A-Za-z0-9]{30}",),
        "Backblaze": ("K00 [0-9][A-Za-z0-9+/]{27}",),
        "Brave": (r"BSA [\w-]{26,29}+",),
        "Flagsmith": ("ser. [A-Za-z0-9]{22}",),
        "ImageKit": ("private_ [A-Za-z0-9+/]{27}=",),
        "Laravel": (r"* | \d{1,12}\|[A-Za-z0-9]{40,48}+",),
        "LocationIQ": ("pk. [a-f0-9]{32}",),
        "Mandrill": (r"md- [\w-]{22}",),
        "Modal": ("ak- [A-Za-z0-9]{22}", "as- [A-Za-z0-9]{22}"),
        "Mollie": ("live_ [A-Za-z0-9]{30}",),
        "Scale": ("live_ [a-f0-9]{32}",),
        "SMTP2GO": ("api- [A-F0-9]{32}",),
        "Statsig": ("secret- [A-Za-z0-9]{43}",),
        "Tableau": (r"* ==: [A-Za-z0-9+/]{22}==:[A-Za-z0-9]{32}",),
        "Upstash": ("sig_ [A-Za-z0-9]{27,30}+",),
        "Lob": ("live_ [a-f0-9]{35}", "test_ [a-f0-9]{35}"),
    },
}  # fmt: skip

_UUID = "[A-Za-z0-9]{8}-(?:[A-Za-z0-9]{4}-){3}[A-Za-z0-9]{12}"


class Token(NamedTuple):
    """A form. ``anchor``: characters that every such token contains; ``prefix``: those that it begins with,
    empty if they vary."""

    anchor: str
    prefix: str
    expression: str
    shape: Literal["token", "exact"]


def tokens(kind: str) -> Iterator[Token]:
    """The forms of a kind."""
    shapes: tuple[Literal["token", "exact"], ...] = ("token", "exact")
    for table, shape in zip((FORMS, EXACT_FORMS), shapes, strict=True):
        for forms in table.get(kind, {}).values():
            for form in forms:
                prefix, _, rest = form.partition(" ")
                anchor, expression = prefix, re.escape(prefix) + rest
                if prefix == "*":
                    (anchor, _, expression), prefix = rest.partition(" "), ""
                yield Token(anchor, prefix, expression.replace("<uuid>", _UUID), shape)


def providers() -> set[str]:
    """The names of all providers."""
    return {name for table in (FORMS, EXACT_FORMS) for named in table.values() for name in named}
