"""Every sentence of ours that a person reads, in English and Indonesian.

One plain sentence each: what happened and what to do. Which language: the person's own as the platform gives it.
"""

_TEXTS = {
    "busy": (
        "The model is overloaded right now and I could not finish. Please send your message again in a few minutes. "
        "(Reference {reference})",
        "Model sedang kelebihan beban sehingga saya tidak bisa menyelesaikannya. Silakan kirim lagi beberapa menit "
        "lagi. (Referensi {reference})",
    ),
    "failed": (
        "Something went wrong on my side and I could not answer. Your message is safe; please try again, and give my "
        "owner this reference if it stays: {reference}",
        "Ada yang salah di pihak saya dan saya tidak bisa menjawab. Pesan Anda aman; silakan coba lagi, dan beri tahu "
        "pemilik saya referensi ini bila terulang: {reference}",
    ),
    "refused": (
        "I can't help with that. You can rephrase it or ask something else.",
        "Saya tidak bisa membantu dengan hal itu. Anda bisa mengubah kalimatnya atau bertanya hal lain.",
    ),
    "empty": (
        "I have nothing to add. Ask me in other words if you expected more.",
        "Tidak ada yang bisa saya tambahkan. Tanyakan dengan kata lain bila Anda mengharapkan lebih.",
    ),
    "cut": (
        "(The answer was cut at its length limit. Say “continue” for the rest.)",
        "(Jawaban terpotong karena batas panjang. Tulis “lanjutkan” untuk sisanya.)",
    ),
    "stopped": ("(Stopped.)", "(Dihentikan.)"),
    "nothing_to_stop": ("Nothing is running.", "Tidak ada yang sedang berjalan."),
    "new": (
        "New conversation: I start from a blank page.",
        "Percakapan baru: saya mulai dari halaman kosong.",
    ),
    "help": (
        "Write to me in plain words; in a group or channel, mention me. While I work you can add to your question.\n\n"
        "/new – start a new conversation\n/stop – stop what I am doing\n"
        "/meanwhile – what a message does that comes while I work\n/usage – what was used, and what it cost\n"
        "/context – what I see of this conversation\n/compact – fold its older part into a summary; add what matters\n"
        "/help – this page",
        "Tulis saja dengan kata-kata biasa; di grup atau kanal, sebut nama saya. Selagi saya bekerja, Anda boleh "
        "menambah pertanyaan.\n\n"
        "/new – mulai percakapan baru\n/stop – hentikan yang sedang saya kerjakan\n"
        "/meanwhile – apa yang terjadi dengan pesan yang datang selagi saya bekerja\n"
        "/context – yang saya lihat dari percakapan ini\n/compact – ringkas bagian lamanya; tambahkan yang penting\n"
        "/usage – pemakaian dan biayanya\n/help – halaman ini",
    ),
    "meanwhile": (
        "While I work, a message of yours can be added to it (/meanwhile steer), wait its turn (/meanwhile queue) or "
        "end what I am doing (/meanwhile interrupt).",
        "Selagi saya bekerja, pesan Anda bisa ditambahkan (/meanwhile steer), menunggu giliran (/meanwhile queue), "
        "atau menghentikan yang sedang saya kerjakan (/meanwhile interrupt).",
    ),
    "meanwhile_steer": (
        "From now on, what you write while I work is added to it.",
        "Mulai sekarang, yang Anda tulis selagi saya bekerja akan ditambahkan.",
    ),
    "meanwhile_queue": (
        "From now on, what you write while I work waits its turn.",
        "Mulai sekarang, yang Anda tulis selagi saya bekerja akan menunggu giliran.",
    ),
    "meanwhile_interrupt": (
        "From now on, what you write while I work ends that and comes first.",
        "Mulai sekarang, yang Anda tulis selagi saya bekerja akan menghentikannya dan didahulukan.",
    ),
    "context": (
        "What I see of this conversation when I answer, estimated in tokens:",
        "Yang saya lihat dari percakapan ini saat menjawab, perkiraan dalam token:",
    ),
    "context_instructions": ("instructions", "instruksi"),
    "context_tools": ("tools", "alat"),
    "context_summary": ("summary of what was said earlier", "ringkasan dari yang dibicarakan sebelumnya"),
    "context_messages": ("messages", "pesan"),
    "context_results": ("results of tools", "hasil dari alat"),
    "context_media": ("pictures and documents", "gambar dan dokumen"),
    "context_total": (
        "Together {total}. Above {most} I fold the older part into a summary; /compact does it now.",
        "Seluruhnya {total}. Di atas {most} bagian lama saya ringkas; /compact melakukannya sekarang.",
    ),
    "folded": (
        "The older part of this conversation is now a summary: what I see went from {before} to {after} tokens.",
        "Bagian lama percakapan ini sekarang berupa ringkasan: yang saya lihat berkurang dari {before} menjadi "
        "{after} token.",
    ),
    "nothing_to_fold": (
        "There is nothing to fold yet: I still see the whole conversation as it is.",
        "Belum ada yang perlu diringkas: saya masih melihat seluruh percakapan apa adanya.",
    ),
    "edited": (
        "You changed a message that I have answered already. Shall I answer it anew?",
        "Anda mengubah pesan yang sudah saya jawab. Perlu saya jawab ulang?",
    ),
    "redo": ("Redo", "Jawab ulang"),
    "retry": ("Retry", "Coba lagi"),
    "more": ("Continue", "Lanjutkan"),
    "go_on": ("Please continue.", "Silakan lanjutkan."),
    "stop": ("Stop", "Hentikan"),
    "denied": (
        "This bot is private. Your id is {person}; its owner can let you in with it.",
        "Bot ini pribadi. Id Anda {person}; pemiliknya bisa memberi Anda akses dengan id itu.",
    ),
    "late": (
        "I was away and your older messages are too old to answer one by one. Please ask again what still matters.",
        "Saya sempat tidak aktif dan pesan-pesan lama Anda sudah terlalu lama untuk dijawab satu per satu. Silakan "
        "tanyakan lagi yang masih penting.",
    ),
    "over_person": (
        "You have used up today's budget of this bot. It begins anew {when}; /usage shows the figures.",
        "Jatah Anda untuk hari ini sudah habis. Jatah baru dimulai {when}; /usage menampilkan angkanya.",
    ),
    "over_chat": (
        "This chat has used up today's budget of this bot. It begins anew {when}; /usage shows the figures.",
        "Jatah obrolan ini untuk hari ini sudah habis. Jatah baru dimulai {when}; /usage menampilkan angkanya.",
    ),
    "over_all": (
        "This bot's budget is used up for now. It begins anew {when}.",
        "Anggaran bot ini sudah habis untuk saat ini. Anggaran baru dimulai {when}.",
    ),
    "over_minute": (
        "That was more than I answer within a minute. Please try again in {seconds} seconds.",
        "Itu lebih banyak daripada yang saya jawab dalam satu menit. Silakan coba lagi dalam {seconds} detik.",
    ),
    "in_days": ("in {days} days, on {date} at 00:00 UTC", "dalam {days} hari, pada {date} pukul 00.00 UTC"),
    "in_hours": ("in {hours} hours, at 00:00 UTC", "dalam {hours} jam, pada pukul 00.00 UTC"),
    "in_minutes": ("in {minutes} minutes, at 00:00 UTC", "dalam {minutes} menit, pada pukul 00.00 UTC"),
    "usage": (
        "**Usage** (days and months in UTC, prices of {date})",
        "**Pemakaian** (hari dan bulan dalam UTC, harga per {date})",
    ),
    "usage_line": (
        "- {whose}: {turns} answers, {tokens} tokens, {cached} % of the reading from the cache, {cost}",
        "- {whose}: {turns} jawaban, {tokens} token, {cached} % bacaan dari cache, {cost}",
    ),
    "usage_one": (
        "- {whose}: {tokens} tokens, {cached} % of the reading from the cache, {cost}",
        "- {whose}: {tokens} token, {cached} % bacaan dari cache, {cost}",
    ),
    "usage_limit": ("of {limit}", "dari {limit}"),
    "usage_last": ("The last answer", "Jawaban terakhir"),
    "usage_person_day": ("You, today", "Anda, hari ini"),
    "usage_person_month": ("You, this month", "Anda, bulan ini"),
    "usage_chat_day": ("This chat, today", "Obrolan ini, hari ini"),
    "usage_chat_month": ("This chat, this month", "Obrolan ini, bulan ini"),
    "usage_all_day": ("Everybody, today", "Semua orang, hari ini"),
    "usage_all_month": ("Everybody, this month", "Semua orang, bulan ini"),
    "usage_unpriced": (
        "{calls} calls went to a model whose price I do not know; they count as free.",
        "{calls} panggilan memakai model yang harganya tidak saya ketahui; semuanya dihitung gratis.",
    ),
    "working": ("Working: {tools}…", "Sedang bekerja: {tools}…"),
    "unreadable": (
        "I can't read this kind of message yet. Please write it as text.",
        "Saya belum bisa membaca jenis pesan ini. Silakan tulis sebagai teks.",
    ),
}


def say(name: str, language: str, **values: str) -> str:
    """The sentence in the person's language: Indonesian for "id" and "id-…", English otherwise."""
    english, indonesian = _TEXTS[name]
    indonesia = language.lower().partition("-")[0] in ("id", "in")  # "in" is what old Android versions send
    return (indonesian if indonesia else english).format(**values)
