"""What ``kabar doctor`` says in Indonesian beside what /doctor says too: the same kind of keys."""

from collections.abc import Mapping

from bot.examining import State
from handlers.doctor import indonesian as inside
from handlers.doctor.indonesian import Translation

STATES: Mapping[State, str] = {"green": "hijau", "yellow": "kuning", "red": "merah"}

NAMES = {
    "address": "alamat",
    "telegram through the address": "Telegram lewat alamat",
    "slack through the address": "Slack lewat alamat",
    "agent folder": "folder agen",
    "platforms": "platform",
    "event source": "sumber event",
    "queue visibility": "visibilitas antrean",
    "worker rights": "izin worker",
    "webhook rights": "izin webhook",
    "sweep": "penyisiran",
}

SENTENCES = {
    # command
    "Neither Telegram nor Slack is set up.": "Baik Telegram maupun Slack belum disiapkan.",
    "Run kabar setup. By hand: set TELEGRAM_BOT_TOKEN (from @BotFather), or SLACK_BOT_TOKEN and what goes with it.": (
        "Jalankan kabar setup. Secara manual: isi TELEGRAM_BOT_TOKEN (dari @BotFather), atau SLACK_BOT_TOKEN beserta "
        "pasangannya."
    ),
    "{} What lies there is not tried.": "{} Yang tersimpan di sana tidak dicoba.",
    "Sign in to AWS as somebody who may ssm:GetParametersByPath and kms:Decrypt there.": (
        "Masuk ke AWS sebagai pengguna yang punya izin ssm:GetParametersByPath dan kms:Decrypt di sana."
    ),
    "The secrets under {} can not be read: {}.": "Rahasia di {} tidak bisa dibaca: {}.",
    "SSM did not answer: {}": "SSM tidak menjawab: {}",
    # what keeps a command from beginning
    "{} must be dollars such as 2.50, or 0 for no limit, not {}.": (
        "{} harus jumlah dolar seperti 2.50, atau 0 untuk tanpa batas, bukan {}."
    ),
    "{} must be a whole number above {}, not {}.": "{} harus bilangan bulat di atas {}, bukan {}.",
    "{} must be on or off, not {}.": "{} harus on atau off, bukan {}.",
    "KABAR_LOG_LEVEL must be one of {}, not {}.": "KABAR_LOG_LEVEL harus salah satu dari {}, bukan {}.",
    "KABAR_CONTEXT_POLICY must be one of {}.": "KABAR_CONTEXT_POLICY harus salah satu dari {}.",
    "KABAR_PYTHON must be one of {}, or empty.": "KABAR_PYTHON harus salah satu dari {}, atau kosong.",
    "KABAR_PROVIDER must be one of {}.": "KABAR_PROVIDER harus salah satu dari {}.",
    "KABAR_MODEL_FEATURES must be {}, not {}.": "KABAR_MODEL_FEATURES harus {}, bukan {}.",
    "of {}, or none": "dari {}, atau none",
    (
        "KABAR_BOTS: {} can not be the name of a bot. Each name is there once, has small letters, digits and hyphens, "
        "at most 20, begins with a letter, and is none of {}."
    ): (
        "KABAR_BOTS: {} tidak bisa menjadi nama bot. Tiap nama ditulis sekali, terdiri dari paling banyak 20 huruf "
        "kecil, angka, dan tanda hubung, diawali huruf, dan bukan salah satu dari {}."
    ),
    "There is no bot called {}: KABAR_BOTS names {}.": "Tidak ada bot bernama {}. Yang disebut KABAR_BOTS: {}.",
    "none": "tidak ada",
    "kabar setup is for the bot without a name: docs/several.md says how to set up the others.": (
        "kabar setup hanya untuk bot tanpa nama: docs/several.md menjelaskan cara menyiapkan yang lain."
    ),
    # stack
    "The stack {} can not be read ({}). {}": "Stack {} tidak bisa dibaca ({}). {}",
    "Set AWS_PROFILE and AWS_REGION to its account and region, and name one that is there.": (
        "Atur AWS_PROFILE dan AWS_REGION ke akun dan region-nya, dan sebut stack yang memang ada."
    ),
    # folder
    "There is no such folder: the bot has no instructions and no skills.": (
        "Foldernya tidak ada, jadi bot tidak punya instruksi maupun skill."
    ),
    "Run kabar where {} lies, or set KABAR_AGENT_DIR to where it is.": (
        "Jalankan kabar di folder tempat {} berada, atau isi KABAR_AGENT_DIR dengan lokasinya."
    ),
    "{} And {} more.": "{} Dan {} lagi.",
    "See them all with: kabar check {}": "Lihat semuanya dengan: kabar check {}",
    "{} has no mistake; {} skills, {} agents.": "{} tanpa kesalahan; {} skill, {} agen.",
    # address
    "{} is no address.": "{} bukan alamat.",
    "Give one that begins with https://.": "Beri alamat yang diawali https://.",
    "{} has no certificate that can be trusted.": "{} tidak punya sertifikat yang bisa dipercaya.",
    "{} can not be reached ({}).": "{} tidak bisa dihubungi ({}).",
    "Correct the address, start the bot there, or open the way to it.": (
        "Perbaiki alamatnya, jalankan bot di sana, atau buka jalan ke sana."
    ),
    "{} is answered by something else (HTTP {} for /healthz).": (
        "Di {} yang menjawab bukan Kabar (HTTP {} untuk /healthz)."
    ),
    "Give the address under which Kabar's webhook is, without a path.": (
        "Beri alamat tempat webhook Kabar berada, tanpa path."
    ),
    "It is reached without TLS.": "Alamat ini dihubungi tanpa TLS.",
    "Use https://: Telegram delivers to nothing else.": "Pakai https://: Telegram hanya mengantar ke sana.",
    "Kabar answers there.": "Kabar menjawab di sana.",
    "An update with our secret is taken.": "Pembaruan dengan rahasia kita diterima.",
    "A request with our signature is taken.": "Permintaan dengan tanda tangan kita diterima.",
    "What we sign with {} is refused there: the bot has another one, or none, or its clock is off.": (
        "Yang ditandatangani dengan {} ditolak di sana: bot memakai nilai lain, atau tidak punya, atau jamnya meleset."
    ),
    "Give the bot the same {} and start it again.": "Beri bot {} yang sama, lalu jalankan ulang.",
    "It is proved but can not be served.": "Tanda tangannya diterima, tetapi permintaannya tidak bisa dilayani.",
    "Look into the bot's log: its secrets or store fail.": "Periksa log bot: rahasia atau penyimpanannya bermasalah.",
    "There was no answer.": "Tidak ada jawaban.",
    "Look into the bot's log.": "Periksa log bot.",
    "It is answered with HTTP {}.": "Jawabannya HTTP {}.",
    "Look for what stands between the address and the bot.": "Cari apa yang ada di antara alamat itu dan bot.",
    # aws
    "No function takes wakes from the queue.": "Tidak ada fungsi yang mengambil panggilan dari antrean.",
    "Keep `kabar serve` running. To have AWS do it: {}": (
        "Biarkan `kabar serve` tetap berjalan. Agar AWS yang melakukannya: {}"
    ),
    "The worker is not given wakes: the mapping is disabled.": (
        "Worker tidak diberi panggilan: event source mapping-nya dinonaktifkan."
    ),
    "Enable it in Lambda's triggers.": "Aktifkan di bagian Triggers pada Lambda.",
    "A wake that is to come again is taken for done.": "Panggilan yang harus diulang dianggap selesai.",
    "Set FunctionResponseTypes to ReportBatchItemFailures. {}": (
        "Isi FunctionResponseTypes dengan ReportBatchItemFailures. {}"
    ),
    "It hands over {} wakes at once: an innocent one ages with a failing one.": (
        "{} panggilan diserahkan sekaligus: yang baik ikut tertunda bersama yang gagal."
    ),
    "Set BatchSize to 1. {}": "Isi BatchSize dengan 1. {}",
    "The worker is given one wake at a time.": "Worker diberi satu panggilan setiap kali.",
    "Its reserved concurrency is 0: it never runs.": "Reserved concurrency-nya 0: fungsi ini tidak pernah berjalan.",
    "Remove the reservation: aws lambda delete-function-concurrency": (
        "Hapus reservasinya: aws lambda delete-function-concurrency"
    ),
    "The function is broken ({}).": "Fungsinya rusak ({}).",
    "{} is there, with {} seconds for one call.": "{} ada, dengan {} detik untuk sekali jalan.",
    "A wake is hidden for {} seconds, but the worker may run {}.": (
        "Panggilan disembunyikan {} detik, padahal worker boleh berjalan {}."
    ),
    "Set the queue's VisibilityTimeout to {}. {}": "Isi VisibilityTimeout antrean dengan {}. {}",
    "A wake is hidden for {} seconds, no less than the worker runs.": (
        "Panggilan disembunyikan {} detik, tidak kurang dari lamanya worker berjalan."
    ),
    "The {}'s role may not {}.": "Role {} tidak punya izin {}.",
    "Allow it in {}Role of infra/template.yaml. {}": "Izinkan di {}Role dalam infra/template.yaml. {}",
    "The {}'s role has what it needs.": "Role {} punya semua izin yang diperlukan.",
    "EventBridge Scheduler may not use KABAR_SCHEDULE_ROLE, so no reminder comes.": (
        "EventBridge Scheduler tidak boleh memakai KABAR_SCHEDULE_ROLE, jadi tidak ada pengingat yang datang."
    ),
    "Let scheduler.amazonaws.com assume it. {}": "Izinkan scheduler.amazonaws.com memakai role itu (AssumeRole). {}",
    "KABAR_SCHEDULE_ROLE may not call the webhook function, so no reminder comes.": (
        "KABAR_SCHEDULE_ROLE tidak boleh memanggil fungsi webhook, jadi tidak ada pengingat yang datang."
    ),
    "Allow it lambda:InvokeFunction on KABAR_SCHEDULE_TARGET. {}": (
        "Beri izin lambda:InvokeFunction pada KABAR_SCHEDULE_TARGET. {}"
    ),
    "The group is active, and its role may call the webhook function.": (
        "Grupnya aktif, dan role-nya boleh memanggil fungsi webhook."
    ),
    "A schedule looks for messages whose wake was lost.": "Ada jadwal yang mencari pesan yang panggilannya hilang.",
    "No schedule looks for messages whose wake was lost.": (
        "Tidak ada jadwal yang mencari pesan yang panggilannya hilang."
    ),
}

INDONESIAN = Translation({**inside.NAMES, **NAMES}, {**inside.SENTENCES, **SENTENCES})
