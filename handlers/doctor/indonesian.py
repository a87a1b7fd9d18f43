"""What the examinations say, in Indonesian: each English sentence of theirs, as it stands in the code, is a key here.

``{}`` stands for a value, and in the translation for the same values in their order; tests/handlers/test_doctor.py says
what is missing.
"""

import re
from collections.abc import Mapping

from msgspec.structs import replace

from bot.examining import Check

NAMES = {
    "aws account": "akun AWS",
    "table": "tabel",
    "table time to live": "masa simpan tabel",
    "table backups": "cadangan tabel",
    "queue": "antrean",
    "queue depth": "isi antrean",
    "dead letters": "antrean gagal",
    "secrets": "rahasia",
    "schedules": "jadwal",
    "clock": "jam",
    "people": "pengguna",
    "money": "uang",
    "machine": "mesin",
    "versions": "versi",
    "secrets file": "file rahasia",
    "telegram token": "token Telegram",
    "telegram groups": "grup Telegram",
    "telegram webhook": "webhook Telegram",
    "telegram secret": "rahasia Telegram",
    "telegram delivery": "pengantaran Telegram",
    "telegram updates": "pembaruan Telegram",
    "slack token": "token Slack",
    "slack scopes": "scope Slack",
    "slack socket mode": "Socket Mode Slack",
    "slack signing secret": "signing secret Slack",
    "slack app": "aplikasi Slack",
    "slack apps": "aplikasi Slack",
    "slack installs": "pemasangan Slack",
}

SENTENCES = {
    # examining
    "There was no answer within {} seconds.": "Tidak ada jawaban dalam {} detik.",
    "Look at this machine's network and proxy.": "Periksa jaringan dan proxy mesin ini.",
    "The examination itself failed ({}).": "Pemeriksaannya sendiri gagal ({}).",
    "Give the lines that were logged to whoever looks after Kabar.": (
        "Berikan baris log tadi kepada orang yang merawat Kabar."
    ),
    # cloud
    "Account {}, region {}.": "Akun {}, region {}.",
    "The config profile ({}) could not be found.": "Profil AWS ({}) tidak ditemukan.",
    "It is active and has the keys and indexes.": "Aktif, dengan kunci dan indeks yang diperlukan.",
    "It is on, on expires_at.": "Aktif, pada expires_at.",
    "Point-in-time recovery is on.": "Pemulihan ke waktu tertentu aktif.",
    "It is FIFO, with high throughput.": "FIFO, dengan throughput tinggi.",
    "There are none.": "Tidak ada.",
    "It is there, and all public access is blocked.": "Ada, dan semua akses umum ditutup.",
    "Under {} lie {}.": "Di {} ada {}.",
    "The group of reminders is active.": "Grup pengingat aktif.",
    "Deploy the stack again: sam build --template infra/template.yaml && sam deploy": (
        "Deploy ulang stack-nya: sam build --template infra/template.yaml && sam deploy"
    ),
    "Set AWS_PROFILE to one of `aws configure list-profiles`.": (
        "Isi AWS_PROFILE dengan salah satu dari `aws configure list-profiles`."
    ),
    "There are no AWS credentials here.": "Tidak ada kredensial AWS di sini.",
    "Set AWS_PROFILE, or run: aws configure": "Isi AWS_PROFILE, atau jalankan: aws configure",
    "These credentials may not look ({}).": "Kredensial ini tidak boleh memeriksa ({}).",
    "Allow {} to whoever runs kabar doctor.": "Izinkan {} bagi yang menjalankan kabar doctor.",
    "What {} names is not there.": "Yang disebut {} tidak ada.",
    "Correct {} or AWS_REGION, or deploy the stack.": "Perbaiki {} atau AWS_REGION, atau deploy stack-nya.",
    "AWS refuses {} ({}).": "AWS menolak {} ({}).",
    "Sign in again, and look at AWS_PROFILE and AWS_REGION.": (
        "Masuk lagi ke AWS, lalu periksa AWS_PROFILE dan AWS_REGION."
    ),
    "AWS can not be asked ({}).": "AWS tidak bisa ditanya ({}).",
    "Look at AWS_REGION, AWS_ENDPOINT_URL and the network.": "Periksa AWS_REGION, AWS_ENDPOINT_URL, dan jaringan.",
    "Time to live on expires_at is off: what is done with is never deleted.": (
        "Masa simpan pada expires_at mati: yang sudah selesai tidak pernah terhapus."
    ),
    "Turn it on for expires_at of {}. {}": "Nyalakan untuk expires_at di {}. {}",
    "Point-in-time recovery is off: what is lost is lost.": (
        "Pemulihan ke waktu tertentu mati: yang hilang tidak bisa kembali."
    ),
    "Turn it on for {}. {}": "Nyalakan untuk {}. {}",
    "It is {}.": "Keadaannya {}.",
    "Wait until it is ACTIVE.": "Tunggu sampai ACTIVE.",
    "It has not the keys and indexes that Kabar reads by.": "Kunci dan indeks yang dipakai Kabar tidak ada di situ.",
    "Name another one in KABAR_TABLE. {}": "Sebut tabel lain di KABAR_TABLE. {}",
    "It is no FIFO queue: two turns of one chat may run at once.": (
        "Itu bukan antrean FIFO: dua giliran dari satu obrolan bisa berjalan bersamaan."
    ),
    "Name a FIFO queue in KABAR_QUEUE_URL. {}": "Sebut antrean FIFO di KABAR_QUEUE_URL. {}",
    "Its throughput is limited for all conversations together.": (
        "Kecepatannya dibatasi untuk semua percakapan sekaligus."
    ),
    "Set FifoThroughputLimit=perMessageGroupId and DeduplicationScope=messageGroup. {}": (
        "Isi FifoThroughputLimit=perMessageGroupId dan DeduplicationScope=messageGroup. {}"
    ),
    "{} wakes wait.": "{} panggilan menunggu.",
    "Raise WorkerConcurrency, or look into the worker's log for why it is slow.": (
        "Naikkan WorkerConcurrency, atau cari di log worker mengapa lambat."
    ),
    "The queue has no dead letters: a wake that always fails is repeated for days.": (
        "Antrean ini tidak punya antrean gagal: panggilan yang selalu gagal diulang berhari-hari."
    ),
    "Give it a RedrivePolicy. {}": "Beri RedrivePolicy. {}",
    "maxReceiveCount is {}: a wake that only waits for its conversation is given up.": (
        "maxReceiveCount {}: panggilan yang hanya menunggu percakapannya sudah dianggap gagal."
    ),
    "Set maxReceiveCount to 40. {}": "Isi maxReceiveCount dengan 40. {}",
    "{} wakes were given up, and nobody was told.": "{} panggilan gagal, dan tidak ada yang diberi tahu.",
    "Look into the logs of the worker and of DeadLetterFunction, then redrive the queue.": (
        "Periksa log worker dan DeadLetterFunction, lalu kirim ulang isi antrean itu."
    ),
    "Nothing keeps its files from being made public.": "Tidak ada yang mencegah isinya dibuka untuk umum.",
    "Block all public access of {}. {}": "Tutup semua akses umum ke {}. {}",
    "Under {} lies neither TELEGRAM_BOT_TOKEN nor SLACK_BOT_TOKEN.": (
        "Di {} tidak ada TELEGRAM_BOT_TOKEN maupun SLACK_BOT_TOKEN."
    ),
    "Put what you have there: {}": "Simpan yang Anda punya di situ: {}",
    "{} can be read by whoever may see parameters.": "{} bisa dibaca siapa pun yang boleh melihat parameter.",
    "Put it again, encrypted: {} --overwrite": "Simpan lagi dengan enkripsi: {} --overwrite",
    "Nothing reads {}.": "{} tidak dibaca siapa pun.",
    "If it is meant to be {}, put it under that name.": "Kalau maksudnya {}, simpan dengan nama itu.",
    "Reminders can be kept but not called: KABAR_SCHEDULE_ROLE or KABAR_SCHEDULE_TARGET is missing.": (
        "Pengingat tersimpan tetapi tidak bisa dipanggil: KABAR_SCHEDULE_ROLE atau KABAR_SCHEDULE_TARGET belum ada."
    ),
    "Set both to their ARNs. {}": "Isi keduanya dengan ARN masing-masing. {}",
    "The group of reminders is {}.": "Grup pengingat berstatus {}.",
    # local
    "Kabar {}, Python {}, {}.": "Kabar {}, Python {}, {}.",
    "{} will be made.": "{} akan dibuat.",
    "{} is whole.": "{} utuh.",
    "Only you can read .env.": "Hanya Anda yang bisa membaca .env.",
    "The owner is {}; {} others are let in by KABAR_ALLOWED_USERS.": (
        "Pemiliknya {}; {} orang lain diizinkan lewat KABAR_ALLOWED_USERS."
    ),
    "At most {} dollars a day and {} a month, where 0 is no limit.": (
        "Paling banyak {} dolar per hari dan {} per bulan; 0 berarti tanpa batas."
    ),
    "It is right.": "Jamnya tepat.",
    "Python is {}.": "Python-nya {}.",
    "Install Python 3.11 or newer and run make again.": "Pasang Python 3.11 atau lebih baru lalu jalankan make lagi.",
    "{} is no folder that can be written, so nothing can be kept.": (
        "{} bukan folder yang bisa ditulisi, jadi tidak ada yang tersimpan."
    ),
    "Set KABAR_DATA to a file in a folder that can be written.": (
        "Isi KABAR_DATA dengan file di folder yang bisa ditulisi."
    ),
    "The disk under {} is almost full.": "Disk di {} hampir penuh.",
    "Make room, or set KABAR_DATA to another disk.": "Kosongkan ruang, atau arahkan KABAR_DATA ke disk lain.",
    "{} can not be read ({}).": "{} tidak bisa dibaca ({}).",
    "Move {} away and bring back a copy; without one the bot begins with an empty file.": (
        "Pindahkan {} dan kembalikan salinannya; tanpa salinan, bot mulai dengan file kosong."
    ),
    "Others on this machine can read {}, with all that people wrote.": (
        "Orang lain di mesin ini bisa membaca {}, yang berisi semua tulisan orang."
    ),
    "Run: chmod 600 {}": "Jalankan: chmod 600 {}",
    "Others on this machine can read the secrets in .env.": "Orang lain di mesin ini bisa membaca rahasia di .env.",
    "Run: chmod 600 .env": "Jalankan: chmod 600 .env",
    "Nobody may talk to this bot.": "Tidak ada yang boleh berbicara dengan bot ini.",
    "{} is nobody's id, so it lets nobody in.": "{} bukan id siapa pun, jadi tidak memberi akses.",
    "Write ids in KABAR_OWNER and KABAR_ALLOWED_USERS as telegram:42 or slack:T1:U1.": (
        "Tulis id di KABAR_OWNER dan KABAR_ALLOWED_USERS seperti telegram:42 atau slack:T1:U1."
    ),
    "The bot has no owner: nobody is asked about strangers.": (
        "Bot ini tidak punya pemilik: tidak ada yang ditanya soal orang asing."
    ),
    "Set KABAR_OWNER to your id, such as telegram:42.": "Isi KABAR_OWNER dengan id Anda, misalnya telegram:42.",
    "Everybody may talk to the bot.": "Semua orang boleh berbicara dengan bot ini.",
    "Name them in KABAR_ALLOWED_USERS, or watch /usage.": "Sebut mereka di KABAR_ALLOWED_USERS, atau pantau /usage.",
    "Nothing limits what everybody together may spend.": "Tidak ada batas untuk pengeluaran semua orang bersama.",
    "Set KABAR_BUDGET_DAY or KABAR_BUDGET_MONTH.": "Isi KABAR_BUDGET_DAY atau KABAR_BUDGET_MONTH.",
    "No server told the time to compare with.": "Tidak ada server yang memberi waktu pembanding.",
    "Look at the network.": "Periksa jaringan.",
    "It is {} {}: signatures are refused.": "Jam ini {} {}: tanda tangan ditolak.",
    "It is {} {}.": "Jam ini {} {}.",
    "seconds fast": "detik terlalu cepat",
    "seconds slow": "detik terlalu lambat",
    "Set this machine's clock by a time server (NTP).": "Setel jam mesin ini dengan server waktu (NTP).",
    # model
    "It answers, through {}.": "Model ini menjawab, lewat {}.",
    "ANTHROPIC_API_KEY is empty or holds a space, a line break or another character no key has.": (
        "ANTHROPIC_API_KEY kosong, atau berisi spasi, ganti baris, atau karakter lain yang tidak ada di kunci mana pun."
    ),
    "no connection to the model: {}": "tidak ada koneksi ke model: {}",
    "It has no key.": "Kuncinya belum ada.",
    "It can not be asked: {}": "Tidak bisa ditanya: {}",
    "The provider refuses the key.": "Penyedia menolak kuncinya.",
    "The provider knows no model {}.": "Penyedia tidak mengenal model {}.",
    "Correct the name in {}.": "Perbaiki namanya di {}.",
    "KABAR_MODEL, KABAR_MODELS, KABAR_SUMMARY_MODEL or KABAR_CHEAPER_MODEL": (
        "KABAR_MODEL, KABAR_MODELS, KABAR_SUMMARY_MODEL, atau KABAR_CHEAPER_MODEL"
    ),
    "The account has no money left for it.": "Saldo akunnya habis.",
    "Add credit or raise the limit in the provider's console.": ("Tambah saldo atau naikkan batas di konsol penyedia."),
    "The key may not use this model.": "Kunci ini tidak boleh memakai model itu.",
    "Have the provider's console give the key access to it.": "Beri kunci itu akses di konsol penyedia.",
    "It is busy at the moment (HTTP {}).": "Sedang sibuk (HTTP {}).",
    "Run kabar doctor again in a minute.": "Tunggu semenit, lalu jalankan kabar doctor lagi.",
    "It can not be reached: {}.": "Tidak bisa dihubungi: {}.",
    "Look at {} and at the network.": "Periksa {} dan jaringan.",
    "It refuses a plain question (HTTP {}).": "Pertanyaan biasa pun ditolak (HTTP {}).",
    "Correct KABAR_MODEL or KABAR_MODEL_FEATURES.": "Perbaiki KABAR_MODEL atau KABAR_MODEL_FEATURES.",
    "Set AWS_REGION and credentials that may call bedrock:InvokeModelWithResponseStream.": (
        "Isi AWS_REGION dan kredensial yang boleh memanggil bedrock:InvokeModelWithResponseStream."
    ),
    "Set ANTHROPIC_API_KEY to a key from the provider's console, without spaces around it.": (
        "Isi ANTHROPIC_API_KEY dengan kunci dari konsol penyedia, tanpa spasi di sekitarnya."
    ),
    # the kinds of tokens
    "no bot token": "bukan token bot",
    "no app-level token": "bukan token tingkat aplikasi",
    "missing": "belum ada",
    # slack
    "Workspaces install the app at {}.": "Workspace memasang aplikasi ini di {}.",
    "Both tokens are of the app {}.": "Kedua token milik aplikasi {}.",
    "it can not be reached": "tidak bisa dihubungi",
    "no address": "alamat kosong",
    "Its events, interactivity and way in are those that the bot needs.": (
        "Event, interactivity, dan jalur masuknya sesuai dengan kebutuhan bot."
    ),
    "The token has every scope that the bot's manifest names.": "Token itu punya semua scope di manifest bot.",
    "It is there; kabar doctor --url <address> tries it.": "Sudah ada; kabar doctor --url <alamat> mencobanya.",
    "Slack hands out a socket for SLACK_APP_TOKEN.": "Slack memberikan socket untuk SLACK_APP_TOKEN.",
    "The bot is {} in {}.": "Bot ini {} di {}.",
    "SLACK_BOT_TOKEN is {}: the bot can not answer.": "SLACK_BOT_TOKEN ternyata {}: bot tidak bisa menjawab.",
    "SLACK_APP_TOKEN is {}.": "SLACK_APP_TOKEN ternyata {}.",
    "SLACK_APP_TOKEN is of the app {}, SLACK_BOT_TOKEN of {}: what people write is not heard.": (
        "SLACK_APP_TOKEN milik aplikasi {}, SLACK_BOT_TOKEN milik {}: yang ditulis orang tidak terdengar."
    ),
    "Make the app-level token (xapp-) under Basic Information of {}.": (
        "Buat token tingkat aplikasi (xapp-) di Basic Information pada {}."
    ),
    "No workspace can install the app.": "Tidak ada workspace yang bisa memasang aplikasi ini.",
    "Set SLACK_CLIENT_SECRET, from the app's Basic Information, beside SLACK_CLIENT_ID.": (
        "Isi SLACK_CLIENT_SECRET, dari Basic Information aplikasi, di samping SLACK_CLIENT_ID."
    ),
    "Set SLACK_STATE_SECRET to {} random characters or more: openssl rand -hex 32.": (
        "Isi SLACK_STATE_SECRET dengan {} karakter acak atau lebih: openssl rand -hex 32."
    ),
    "Set SLACK_BOT_TOKEN for one workspace, or SLACK_CLIENT_ID for many, not both.": (
        "Isi SLACK_BOT_TOKEN untuk satu workspace, atau SLACK_CLIENT_ID untuk banyak, jangan keduanya."
    ),
    "Set KABAR_SEAL_KEY to the key of AWS's KMS that seals Slack's tokens in DynamoDB.": (
        "Isi KABAR_SEAL_KEY dengan kunci KMS dari AWS yang menyegel token Slack di DynamoDB."
    ),
    "Whoever installs the app may use it, with all of their workspace, at your cost.": (
        "Siapa pun yang memasang aplikasi ini boleh memakainya, bersama seluruh workspace-nya, atas biaya Anda."
    ),
    "Take * out of KABAR_ALLOWED_USERS: you are asked about each who writes.": (
        "Hapus * dari KABAR_ALLOWED_USERS: Anda akan ditanyai tentang setiap orang yang menulis."
    ),
    # kinds
    "a Telegram token": "token Telegram",
    "Slack's bot token (xoxb-)": "token bot Slack (xoxb-)",
    "Slack's app-level token (xapp-)": "token tingkat aplikasi Slack (xapp-)",
    "a Slack token of a person, or for configuration (xoxp-, xoxe-)": (
        "token Slack milik orang, atau untuk konfigurasi (xoxp-, xoxe-)"
    ),
    "an Anthropic admin key, which may not talk to models": (
        "kunci admin Anthropic, yang tidak boleh berbicara dengan model"
    ),
    "an Anthropic key": "kunci Anthropic",
    "not Anthropic's key, which begins with sk-ant-": "bukan kunci Anthropic, yang dimulai dengan sk-ant-",
    "an AWS access key": "kunci akses AWS",
    "Copy the Bot User OAuth Token (xoxb-) from OAuth & Permissions into SLACK_BOT_TOKEN.": (
        "Salin Bot User OAuth Token (xoxb-) dari OAuth & Permissions ke SLACK_BOT_TOKEN."
    ),
    (
        "Switch Socket Mode on, make an app-level token (xapp-) with the scope connections:write under Basic "
        "Information, and set SLACK_APP_TOKEN to it."
    ): (
        "Nyalakan Socket Mode, buat token tingkat aplikasi (xapp-) dengan scope connections:write di Basic "
        "Information, lalu isi SLACK_APP_TOKEN dengannya."
    ),
    "Slack does not tell what the app is ({}).": "Slack tidak memberi tahu seperti apa aplikasinya ({}).",
    "Make another app configuration token at api.slack.com/apps for SLACK_CONFIG_TOKEN, or leave it out.": (
        "Buat token konfigurasi aplikasi baru di api.slack.com/apps untuk SLACK_CONFIG_TOKEN, atau kosongkan."
    ),
    "The app is not told of {}.": "Aplikasinya tidak diberi tahu tentang {}.",
    "Add {} under Event Subscriptions, then install the app again.": (
        "Tambahkan {} di Event Subscriptions, lalu pasang lagi aplikasinya."
    ),
    "Its buttons do nothing.": "Tombol-tombolnya tidak berfungsi.",
    "Switch Interactivity on, under Interactivity & Shortcuts.": (
        "Nyalakan Interactivity di Interactivity & Shortcuts."
    ),
    "Socket Mode is off, but the bot waits at a socket.": "Socket Mode mati, padahal bot menunggu di socket.",
    "Socket Mode is on, so the address gets nothing.": "Socket Mode menyala, jadi alamatnya tidak menerima apa pun.",
    "Switch Socket Mode on for the app.": "Nyalakan Socket Mode di aplikasinya.",
    "Switch Socket Mode off for the app.": "Matikan Socket Mode di aplikasinya.",
    "Slack sends to {}, which is not this bot's.": "Slack mengirim ke {}, yang bukan milik bot ini.",
    "Set {} for events, for interactivity and for the slash command.": (
        "Pakai {} untuk event, interactivity, dan perintah slash."
    ),
    "The token lacks {}.": "Token itu tidak punya {}.",
    "Add {} under OAuth & Permissions of the app, then install the app again.": (
        "Tambahkan {} di OAuth & Permissions aplikasinya, lalu pasang lagi aplikasinya."
    ),
    "SLACK_SIGNING_SECRET is missing, so every event is refused.": (
        "SLACK_SIGNING_SECRET belum ada, jadi setiap event ditolak."
    ),
    "Copy the Signing Secret from the app's Basic Information.": (
        "Salin Signing Secret dari Basic Information aplikasinya."
    ),
    "{} For kabar run it is SLACK_APP_TOKEN that is missing: run kabar setup.": (
        "{} Untuk kabar run, SLACK_APP_TOKEN yang belum ada: jalankan kabar setup."
    ),
    "SLACK_SIGNING_SECRET is a token, so every event is refused.": (
        "SLACK_SIGNING_SECRET berisi token, jadi setiap event ditolak."
    ),
    "ANTHROPIC_API_KEY is {}.": "ANTHROPIC_API_KEY ternyata {}.",
    "TELEGRAM_BOT_TOKEN is {}.": "TELEGRAM_BOT_TOKEN ternyata {}.",
    "Run kabar setup, which finds out who you are. By hand: set KABAR_OWNER to your id, such as telegram:42.": (
        "Jalankan kabar setup, yang mencari tahu siapa Anda. Secara manual: isi KABAR_OWNER dengan id Anda, misalnya "
        "telegram:42."
    ),
    "Slack can not be reached.": "Slack tidak bisa dihubungi.",
    "Look at SLACK_API_BASE_URL and at the network.": "Periksa SLACK_API_BASE_URL dan jaringan.",
    "Slack wants to be asked less often.": "Slack minta tidak ditanya terlalu sering.",
    "{} lacks the scope for it.": "{} tidak punya scope untuk itu.",
    "{} is no longer good ({}).": "{} sudah tidak berlaku ({}).",
    "Install the app again. {}": "Pasang lagi aplikasinya. {}",
    "Slack refuses {} ({}).": "Slack menolak {} ({}).",
    # telegram
    "The bot is @{}.": "Bot ini @{}.",
    "Privacy mode is off: the bot hears everything said in its groups.": (
        "Mode privasi mati: bot mendengar semua yang dikatakan di grupnya."
    ),
    "Privacy mode is on: in groups the bot hears mentions, replies and commands.": (
        "Mode privasi menyala: di grup, bot mendengar sebutan, balasan, dan perintah."
    ),
    "None is set, as long polling wants it.": "Tidak terpasang, sesuai kebutuhan long polling.",
    "It is there and of the right form.": "Sudah ada dan bentuknya benar.",
    "Telegram delivers to {}.": "Telegram mengantar ke {}.",
    "No delivery failed lately; {} updates wait.": (
        "Belakangan ini tidak ada pengantaran yang gagal; {} pembaruan menunggu."
    ),
    "Every kind that the bot reads is delivered.": "Semua jenis yang dibaca bot diantar.",
    "TELEGRAM_BOT_TOKEN is no token.": "TELEGRAM_BOT_TOKEN bukan token.",
    "Copy the token from @BotFather into TELEGRAM_BOT_TOKEN again.": (
        "Salin lagi token dari @BotFather ke TELEGRAM_BOT_TOKEN."
    ),
    "Telegram does not know TELEGRAM_BOT_TOKEN.": "Telegram tidak mengenal TELEGRAM_BOT_TOKEN.",
    "Telegram wants to be asked less often ({} seconds).": "Telegram minta tidak ditanya terlalu sering ({} detik).",
    "Telegram can not be reached ({}).": "Telegram tidak bisa dihubungi ({}).",
    "Look at TELEGRAM_API_BASE_URL and at the network.": "Periksa TELEGRAM_API_BASE_URL dan jaringan.",
    "Telegram refuses: {}.": "Telegram menolak: {}.",
    "TELEGRAM_BOT_USERNAME is {}, but the bot is @{}: mentions in groups are not heard.": (
        "TELEGRAM_BOT_USERNAME berisi {}, padahal bot ini @{}: sebutan di grup tidak terdengar."
    ),
    "Set TELEGRAM_BOT_USERNAME to {}, or leave it out.": "Isi TELEGRAM_BOT_USERNAME dengan {}, atau kosongkan.",
    "Nobody can add the bot to a group.": "Tidak ada yang bisa menambahkan bot ke grup.",
    "In @BotFather, send /setjoingroups and choose Enable.": "Di @BotFather, kirim /setjoingroups dan pilih Enable.",
    "A webhook is set, so long polling gets nothing.": (
        "Ada webhook terpasang, jadi long polling tidak menerima apa pun."
    ),
    "Remove it with: kabar run --take-over": "Hapus dengan: kabar run --take-over",
    "TELEGRAM_WEBHOOK_SECRET is missing, so every update is refused.": (
        "TELEGRAM_WEBHOOK_SECRET belum ada, jadi setiap pembaruan ditolak."
    ),
    "Set TELEGRAM_WEBHOOK_SECRET (kabar setup makes one). {}": (
        "Isi TELEGRAM_WEBHOOK_SECRET (kabar setup membuatkannya). {}"
    ),
    "TELEGRAM_WEBHOOK_SECRET holds characters that Telegram does not take.": (
        "TELEGRAM_WEBHOOK_SECRET berisi karakter yang tidak diterima Telegram."
    ),
    "Choose one of 1 to 256 of A-Z a-z 0-9 _ -. {}": "Pilih 1 sampai 256 dari A-Z a-z 0-9 _ -. {}",
    "Tell Telegram where to deliver: kabar setup --url {}": (
        "Beri tahu Telegram ke mana harus mengantar: kabar setup --url {}"
    ),
    "<address>": "<alamat>",
    "<address>{}": "<alamat>{}",
    "Have the stack tell Telegram again: aws lambda invoke /dev/stdout --function-name <RegistrarName>": (
        "Minta stack-nya memberi tahu Telegram lagi: aws lambda invoke /dev/stdout --function-name <RegistrarName>"
    ),
    "Call setWebhook with url={}, this bot's TELEGRAM_WEBHOOK_SECRET and allowed_updates={}.": (
        "Panggil setWebhook dengan url={}, TELEGRAM_WEBHOOK_SECRET bot ini, dan allowed_updates={}."
    ),
    "For kabar run leave TELEGRAM_WEBHOOK_SECRET out. For kabar serve: {}": (
        "Untuk kabar run, kosongkan TELEGRAM_WEBHOOK_SECRET. Untuk kabar serve: {}"
    ),
    "None is set, so Telegram delivers nothing.": "Belum terpasang, jadi Telegram tidak mengantar apa pun.",
    "Telegram delivers to {}, which is not this bot's.": "Telegram mengantar ke {}, yang bukan milik bot ini.",
    "It is {}, whose path is not {}.": "Alamatnya {}, yang jalurnya bukan {}.",
    "Telegram's last delivery failed: {} ({} updates wait).": (
        "Pengantaran Telegram terakhir gagal: {} ({} pembaruan menunggu)."
    ),
    "{} updates wait although none failed.": "{} pembaruan menunggu walau tidak ada yang gagal.",
    "Wait a minute; if they stay, look into the bot's log.": ("Tunggu sebentar; kalau masih begitu, periksa log bot."),
    "See whether the address answers from outside: kabar doctor --url <address>": (
        "Coba apakah alamatnya menjawab dari luar: kabar doctor --url <alamat>"
    ),
    "Let the public in: the function URL's AuthType must be NONE.": (
        "Buka untuk umum: AuthType pada function URL harus NONE."
    ),
    "Raise WebhookConcurrency: the function is throttled.": "Naikkan WebhookConcurrency: fungsinya dibatasi.",
    "Give the address a certificate that browsers accept, the whole chain included.": (
        "Beri alamat itu sertifikat yang diterima browser, lengkap dengan rantainya."
    ),
    "Correct the host name of the webhook's address.": "Perbaiki nama host di alamat webhook.",
    "Look into the webhook function's log for why messages can not be stored.": (
        "Cari di log fungsi webhook mengapa pesan tidak bisa disimpan."
    ),
    "Telegram keeps updates back: {}.": "Telegram menahan pembaruan: {}.",
}


class Translation:
    """Of checks' ``names``, and of ``sentences`` with ``{}`` where a value stands."""

    def __init__(self, names: Mapping[str, str], sentences: Mapping[str, str]) -> None:
        self._names = names
        self._sentences = sentences
        # What says most itself first.
        self._by_length = sorted(sentences, key=lambda each: -len(each.replace("{}", "")))

    def check(self, check: Check) -> Check:
        name = self._names.get(check.name, check.name)
        return replace(check, name=name, says=self.words(check.says), next=self.words(check.next))

    def words(self, words: str) -> str:
        """One sentence after the other, the values in them too where they are words of ours; as it is where nobody
        translated it."""
        for sentence in self._by_length:
            if found := _values(sentence, words):
                return self._sentences[sentence].format(*map(self.words, found.groups()))
        first, dot, rest = words.partition(". ")
        return f"{self.words(f'{first}.')} {self.words(rest)}" if dot else words


INDONESIAN = Translation(NAMES, SENTENCES)


def _values(sentence: str, words: str) -> re.Match[str] | None:
    """The values in a sentence's places. One that stands before a capital or at the end may be sentences itself, any
    other is within one."""
    first, *others = parts = sentence.split("{}")
    if not all(part in words for part in parts):  # most are not meant: spares making a pattern
        return None
    places = ("(.+)" if re.match(r"$| [A-Z]", part) else r"((?:(?!\. [A-Z]).)+?)" for part in others)
    pattern = re.escape(first) + "".join(
        f"{place}{re.escape(part)}" for place, part in zip(places, others, strict=True)
    )
    return re.fullmatch(pattern, words, re.DOTALL)
