"""What a browser shows of an installation, in English and Indonesian. Pure."""

import html

_TEXTS = {
    "begin": (
        "Add Kabar to Slack",
        "You choose the workspace on Slack's own page. Nobody there can talk to the bot until its owner lets them in.",
        "Tambahkan Kabar ke Slack",
        "Anda memilih ruang kerja di halaman Slack sendiri. Tidak ada orang di sana yang bisa berbicara dengan bot ini "
        "sebelum pemiliknya memberi akses.",
    ),
    "installed": (
        "Kabar is now in {name}",
        "Its owner hears of it and decides who may talk to it. In Slack, open Kabar under Apps and say hello.",
        "Kabar sekarang ada di {name}",
        "Pemiliknya diberi tahu dan memutuskan siapa yang boleh berbicara dengannya. Di Slack, buka Kabar di bagian "
        "Apps dan sapalah.",
    ),
    "cancelled": (
        "Nothing was installed",
        "You cancelled on Slack's page, or an admin has to approve the app first. You can begin again at any time.",
        "Tidak ada yang dipasang",
        "Anda membatalkan di halaman Slack, atau seorang admin harus menyetujui aplikasi ini dulu. Anda bisa memulai "
        "lagi kapan saja.",
    ),
    "state": (
        "This link is used up",
        "It is good once, for ten minutes, and in the browser that began. Please begin again.",
        "Tautan ini sudah tidak berlaku",
        "Tautan hanya berlaku sekali, selama sepuluh menit, dan di peramban yang memulainya. Silakan mulai lagi.",
    ),
    "refused": (
        "Slack did not accept it",
        "Nothing was installed. Please begin again; if it stays, the bot's owner finds the reason in its log.",
        "Slack tidak menerimanya",
        "Tidak ada yang dipasang. Silakan mulai lagi; bila terulang, pemilik bot menemukan alasannya di log.",
    ),
    "unreachable": (
        "Slack did not answer",
        "Nothing was installed. Please begin again in a minute.",
        "Slack tidak menjawab",
        "Tidak ada yang dipasang. Silakan mulai lagi sebentar lagi.",
    ),
    "later": (
        "It could not be kept",
        "Something is down on our side, and nothing was installed. Please begin again in a minute.",
        "Tidak bisa disimpan",
        "Ada yang sedang terganggu di pihak kami, dan tidak ada yang dipasang. Silakan mulai lagi sebentar lagi.",
    ),
}
_LABELS = {"begin": ("Add to Slack", "Tambahkan ke Slack"), "again": ("Begin again", "Mulai lagi")}
_STYLE = (
    "body{font:17px/1.5 system-ui,sans-serif;max-width:34em;margin:15vh auto;padding:0 1em;"
    "color:#1d1c1d;background:#fff}"
    "a{display:inline-block;margin-top:1em;padding:.6em 1.2em;border-radius:6px;background:#4a154b;color:#fff;"
    "text-decoration:none;font-weight:600}"
    "@media(prefers-color-scheme:dark){body{color:#e8e8e8;background:#1a1d21}a{background:#e8e8e8;color:#1a1d21}}"
)


def page(what: str, accepts: str, link: str = "", name: str = "") -> str:
    """HTML. ``what`` is a key of the texts; ``accepts`` is the browser's Accept-Language; ``link`` leads to Slack or
    back to the beginning."""
    indonesian = accepts.strip().lower().startswith("id")
    title, text = _TEXTS[what][2:] if indonesian else _TEXTS[what][:2]
    title = html.escape(title.format(name=name or "Slack"))
    label = _LABELS["begin" if what == "begin" else "again"][indonesian]
    button = f'<p><a href="{html.escape(link)}">{label}</a></p>' if link else ""
    return (
        f'<!doctype html><html lang="{"id" if indonesian else "en"}"><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width"><title>{title}</title><style>{_STYLE}</style>'
        f"<h1>{title}</h1><p>{html.escape(text)}</p>{button}</html>"
    )
