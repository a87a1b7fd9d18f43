"""What setup says, in English and Indonesian; of what is wrong, one plain sentence: what, and what to do."""

TEXTS = {
    # Beginning and end
    "hello_here": (
        "This sets up the bot on this machine. What you answer is kept in {where}, for your eyes only. Ctrl-C "
        "stops at any time, and nothing you answered is lost. (For AWS: kabar setup --aws)",
        "Ini menyiapkan bot di komputer ini. Jawaban Anda disimpan di {where}, hanya untuk Anda. Ctrl-C "
        "menghentikan kapan saja, dan jawaban yang sudah ada tidak hilang. (Untuk AWS: kabar setup --aws)",
    ),
    "hello_aws": (
        "This sets up the bot for AWS. Secrets are kept in SSM under {where}, encrypted, and in no file. Ctrl-C "
        "stops at any time, and nothing you answered is lost.",
        "Ini menyiapkan bot untuk AWS. Rahasia disimpan di SSM di bawah {where}, terenkripsi, dan tidak di file "
        "mana pun. Ctrl-C menghentikan kapan saja, dan jawaban yang sudah ada tidak hilang.",
    ),
    "stopped": (
        "Stopped. What you answered is kept; kabar setup goes on from there.",
        "Dihentikan. Jawaban Anda tersimpan; kabar setup melanjutkan dari sini.",
    ),
    "no_person": (
        "kabar setup asks questions, so it needs a terminal. Without one: put the values that docs/settings.md "
        "lists into .env, and run kabar setup --check.",
        "kabar setup mengajukan pertanyaan, jadi perlu terminal. Tanpa terminal: tulis nilai-nilai yang ada di "
        "docs/settings.md ke .env, lalu jalankan kabar setup --check.",
    ),
    "done_here": ("All is set. Start the bot with:", "Semua siap. Jalankan bot dengan:"),
    "done_aws": ("All is set. Deploy the bot with:", "Semua siap. Deploy bot dengan:"),
    "done_look": ("To see what is well and what is not:", "Untuk melihat apa yang beres dan yang belum:"),
    "done_slack": (
        "Once the bot has an address, have Slack send there: paste what this prints under App Manifest of the app.",
        "Setelah bot punya alamat, arahkan Slack ke sana: tempel hasil perintah ini di App Manifest aplikasinya.",
    ),
    "done_demo": (
        "Until there is a key the demo model answers, a small script; kabar doctor goes on naming the missing key.",
        "Selama belum ada kunci, yang menjawab adalah model demo, sebuah skrip kecil; kabar doctor tetap menyebut"
        " kunci yang belum ada itu.",
    ),
    # Questions of every kind
    "keep": ("{what}. Keep it?", "{what}. Tetap pakai ini?"),
    "yes_or_no": ("[Y/n]", "[Y/t]"),
    "no_or_yes": ("[y/N]", "[y/T]"),
    "say_yes_or_no": ("Type y or n, or just press Enter.", "Ketik y atau t, atau tekan Enter saja."),
    "number": ("Number", "Nomor"),
    "say_number": ("Type a number from 1 to {last}.", "Ketik nomor dari 1 sampai {last}."),
    "again": (
        "Paste another one, or press Enter to try the same one again.",
        "Tempel yang lain, atau tekan Enter untuk mencoba yang sama lagi.",
    ),
    "shadowed": (
        "{name} is also set in this shell, and that wins over {where}. To use what you typed: unset {name}",
        "{name} juga diatur di shell ini, dan itu yang dipakai, bukan {where}. Agar isian Anda dipakai: unset {name}",
    ),
    # Platforms
    "platforms": ("Where do people talk to the bot?", "Di mana orang berbicara dengan bot?"),
    "telegram": ("Telegram", "Telegram"),
    "slack": ("Slack", "Slack"),
    "both": ("both", "keduanya"),
    "stays": (
        "{platform} was set up before and stays so. To end it, remove its values from {where}.",
        "{platform} sudah disiapkan sebelumnya dan tetap begitu. Untuk mengakhirinya, hapus nilai-nilainya dari "
        "{where}.",
    ),
    # Telegram
    "telegram_how": (
        "In Telegram, open https://t.me/BotFather and send /newbot; it answers with a token. (For a bot you "
        "already have: /token)",
        "Di Telegram, buka https://t.me/BotFather dan kirim /newbot; ia menjawab dengan sebuah token. (Untuk bot "
        "yang sudah ada: /token)",
    ),
    "telegram_token": ("Telegram token (stays hidden as you paste it)", "Token Telegram (tidak tampak saat ditempel)"),
    "telegram_form": (
        "That is no Telegram token: it looks like 123456:ABC…, a number, a colon and some 35 characters. Copy all"
        " of it from @BotFather.",
        "Itu bukan token Telegram: bentuknya seperti 123456:ABC…, yaitu angka, titik dua, dan sekitar 35 "
        "karakter. Salin seluruhnya dari @BotFather.",
    ),
    "telegram_unknown": (
        "Telegram does not know this token: it is mistyped, or was replaced by a newer one. Send /token to "
        "@BotFather and copy what it answers.",
        "Telegram tidak mengenal token ini: salah ketik, atau sudah diganti yang baru. Kirim /token ke @BotFather"
        " dan salin jawabannya.",
    ),
    "telegram_flood": (
        "Telegram wants to be asked less often. Wait {seconds} seconds.",
        "Telegram minta tidak ditanya terlalu sering. Tunggu {seconds} detik.",
    ),
    "telegram_refuses": ("Telegram refuses: {why}.", "Telegram menolak: {why}."),
    "telegram_away": (
        "Telegram can not be reached ({error}). Look at the network, and at TELEGRAM_API_BASE_URL if you set it.",
        "Telegram tidak terjangkau ({error}). Periksa jaringan, dan TELEGRAM_API_BASE_URL bila Anda mengaturnya.",
    ),
    "telegram_taken": (
        "Another program takes this bot's messages, such as kabar run, so your code can not be seen. Stop it and "
        "run kabar setup again, or type your id.",
        "Program lain mengambil pesan bot ini, misalnya kabar run, jadi kode Anda tidak terlihat. Hentikan "
        "program itu dan jalankan kabar setup lagi, atau ketik id Anda.",
    ),
    "telegram_full": (
        "{count} messages wait for the bot, so yours can not be seen. Type your id; the bot tells it to whoever "
        "writes to it once it runs.",
        "{count} pesan menunggu bot, jadi pesan Anda tidak terlihat. Ketik id Anda; setelah berjalan, bot "
        "memberitahukan id kepada siapa pun yang menulis kepadanya.",
    ),
    "telegram_closed": (
        "Telegram lets a bot write only to people who wrote to it first. Open the bot in Telegram and press Start.",
        "Telegram hanya mengizinkan bot menulis kepada orang yang lebih dulu menulis kepadanya. Buka bot di "
        "Telegram dan tekan Start.",
    ),
    "webhook_there": (
        "Telegram delivers this bot's messages to {url}. The bot can not be heard here before that ends; whatever"
        " runs there would then hear nothing more.",
        "Telegram mengirim pesan bot ini ke {url}. Bot tidak bisa mendengar dari sini sebelum itu diakhiri; apa "
        "pun yang berjalan di sana tidak akan mendengar apa-apa lagi.",
    ),
    "webhook_end": ("End the delivery to {url}?", "Akhiri pengiriman ke {url}?"),
    "webhook_left": (
        "Left as it is. kabar run --take-over ends it when you start the bot.",
        "Dibiarkan. kabar run --take-over mengakhirinya saat bot dijalankan.",
    ),
    "webhook_set": ("Telegram delivers to {url} from now on.", "Mulai sekarang Telegram mengirim ke {url}."),
    # Slack
    "slack_how": (
        "This link makes the Slack app with everything filled in: choose the workspace, press Create, then "
        "Install to Workspace. (For an app you already have, paste what kabar manifest prints under App "
        "Manifest.)",
        "Tautan ini membuat aplikasi Slack dengan semua sudah terisi: pilih workspace, tekan Create, lalu Install"
        " to Workspace. (Untuk aplikasi yang sudah ada, tempel hasil kabar manifest di App Manifest.)",
    ),
    "slack_bot_how": (
        "Then copy the Bot User OAuth Token from the app's page OAuth & Permissions.",
        "Lalu salin Bot User OAuth Token dari halaman OAuth & Permissions aplikasi itu.",
    ),
    "slack_bot_token": ("Slack bot token, xoxb-… (hidden)", "Token bot Slack, xoxb-… (tidak tampak)"),
    "slack_app_how": (
        "On the app's page Basic Information, under App-Level Tokens, press Generate Token and Scopes, add "
        "connections:write, and copy the token.",
        "Di halaman Basic Information aplikasi itu, pada App-Level Tokens, tekan Generate Token and Scopes, "
        "tambahkan connections:write, lalu salin tokennya.",
    ),
    "slack_app_token": (
        "Slack app-level token, xapp-… (hidden)",
        "Token tingkat aplikasi Slack, xapp-… (tidak tampak)",
    ),
    "slack_secret_how": (
        "Copy the Signing Secret from the app's page Basic Information.",
        "Salin Signing Secret dari halaman Basic Information aplikasi itu.",
    ),
    "slack_secret": ("Slack signing secret (hidden)", "Signing secret Slack (tidak tampak)"),
    "slack_bot_form": (
        "That is no bot token: it begins with xoxb-. Copy the Bot User OAuth Token from OAuth & Permissions.",
        "Itu bukan token bot: awalnya xoxb-. Salin Bot User OAuth Token dari OAuth & Permissions.",
    ),
    "slack_app_form": (
        "That is no app-level token: it begins with xapp-. Make one under Basic Information, App-Level Tokens.",
        "Itu bukan token tingkat aplikasi: awalnya xapp-. Buat di Basic Information, App-Level Tokens.",
    ),
    "slack_secret_form": (
        "That is too short for a signing secret, which has 32 characters. Press Show beside Signing Secret and "
        "copy all of it.",
        "Itu terlalu pendek untuk signing secret, yang panjangnya 32 karakter. Tekan Show di samping Signing "
        "Secret dan salin seluruhnya.",
    ),
    "slack_scopes": (
        "The token lacks {scopes}. Add them under OAuth & Permissions, Bot Token Scopes, install the app again, "
        "and copy the token it shows then.",
        "Token ini tidak punya {scopes}. Tambahkan di OAuth & Permissions, Bot Token Scopes, pasang lagi "
        "aplikasinya, dan salin token yang tampil sesudahnya.",
    ),
    "slack_two_apps": (
        "This token is of the app {app}, but the bot is of {bot}. Make it on the page of {bot}.",
        "Token ini milik aplikasi {app}, sedangkan bot milik {bot}. Buat token di halaman {bot}.",
    ),
    "slack_no_socket": (
        "The token lacks connections:write. Make another one with that scope under Basic Information, App-Level "
        "Tokens.",
        "Token ini tidak punya connections:write. Buat yang lain dengan scope itu di Basic Information, App-Level"
        " Tokens.",
    ),
    "slack_deaf": (
        "Slack hands out no messages over Socket Mode. Switch Socket Mode on for the app, or type your id.",
        "Slack tidak memberikan pesan lewat Socket Mode. Nyalakan Socket Mode di aplikasinya, atau ketik id Anda.",
    ),
    "slack_nobody": (
        "Nobody in this workspace has the id {user}. In Slack, open your profile, press ⋮ and choose Copy member ID.",
        "Tidak ada orang dengan id {user} di workspace ini. Di Slack, buka profil Anda, tekan ⋮ dan pilih Copy "
        "member ID.",
    ),
    "slack_unknown": (
        "Slack does not know this token. Copy it again, all of it.",
        "Slack tidak mengenal token ini. Salin lagi, seluruhnya.",
    ),
    "slack_gone": (
        "This token is no longer good ({why}). Install the app again and copy the token it shows then.",
        "Token ini tidak berlaku lagi ({why}). Pasang lagi aplikasinya dan salin token yang tampil sesudahnya.",
    ),
    "slack_flood": (
        "Slack wants to be asked less often. Wait a minute.",
        "Slack minta tidak ditanya terlalu sering. Tunggu satu menit.",
    ),
    "slack_refuses": ("Slack refuses ({why}).", "Slack menolak ({why})."),
    "slack_away": (
        "Slack can not be reached. Look at the network, and at SLACK_API_BASE_URL if you set it.",
        "Slack tidak terjangkau. Periksa jaringan, dan SLACK_API_BASE_URL bila Anda mengaturnya.",
    ),
    # A token in the wrong place
    "spaces": (
        "There is a space or a line break in it. Copy it again, by itself.",
        "Ada spasi atau ganti baris di dalamnya. Salin lagi, tokennya saja.",
    ),
    "characters": (
        "There is a character in it that no token has. Copy it again, by itself.",
        "Ada karakter yang tidak pernah ada di token. Salin lagi, tokennya saja.",
    ),
    "is_telegram": (
        "That is a Telegram token; it is not asked for here.",
        "Itu token Telegram; bukan itu yang diminta di sini.",
    ),
    "is_slack_bot": (
        "That is Slack's bot token (xoxb-); it is not asked for here.",
        "Itu token bot Slack (xoxb-); bukan itu yang diminta di sini.",
    ),
    "is_slack_app": (
        "That is Slack's app-level token (xapp-); it is not asked for here.",
        "Itu token tingkat aplikasi Slack (xapp-); bukan itu yang diminta di sini.",
    ),
    "is_slack_user": (
        "That is a token of a Slack user or for configuration (xoxp-, xoxe-). The bot's own begins with xoxb-.",
        "Itu token pengguna atau konfigurasi Slack (xoxp-, xoxe-). Token bot diawali xoxb-.",
    ),
    "is_anthropic": (
        "That is an Anthropic key; it is not asked for here.",
        "Itu kunci Anthropic; bukan itu yang diminta di sini.",
    ),
    "is_anthropic_admin": (
        "That is an Anthropic admin key, which may not talk to models. Make a usual key.",
        "Itu kunci admin Anthropic, yang tidak boleh berbicara dengan model. Buat kunci biasa.",
    ),
    "is_openai": (
        "That is not an Anthropic key: those begin with sk-ant-. For another server, press Enter without a key.",
        "Itu bukan kunci Anthropic: awalnya sk-ant-. Untuk server lain, tekan Enter tanpa kunci.",
    ),
    "is_aws": (
        "That is an AWS access key; it is not asked for here. For Bedrock, press Enter without a key.",
        "Itu kunci akses AWS; bukan itu yang diminta di sini. Untuk Bedrock, tekan Enter tanpa kunci.",
    ),
    # The model
    "model_how": (
        "Claude thinks for the bot, with a key from https://platform.claude.com/settings/keys",
        "Claude berpikir untuk bot, dengan kunci dari https://platform.claude.com/settings/keys",
    ),
    "anthropic_key": (
        "Anthropic key (hidden; Enter for Bedrock, another server or none)",
        "Kunci Anthropic (tidak tampak; Enter untuk Bedrock, server lain, atau tanpa kunci)",
    ),
    "model_others": ("Who thinks, then?", "Kalau begitu, siapa yang berpikir?"),
    "others_key": ("Claude, with a key after all", "Claude, dengan kunci saja"),
    "others_bedrock": (
        "Claude on Amazon Bedrock, with this machine's AWS credentials",
        "Claude di Amazon Bedrock, dengan kredensial AWS komputer ini",
    ),
    "others_server": (
        "another server that speaks the Anthropic Messages API",
        "server lain yang memakai Messages API Anthropic",
    ),
    "others_demo": ("the demo model: a small script, no key", "model demo: sebuah skrip kecil, tanpa kunci"),
    "demo": ("The demo model, for now", "Untuk sementara, model demo"),
    "bedrock_region": (
        "AWS region of Bedrock, such as eu-central-1",
        "Region AWS untuk Bedrock, misalnya eu-central-1",
    ),
    "bedrock_model": ("Model or inference profile [{default}]", "Model atau inference profile [{default}]"),
    "server_address": ("Its address [{default}]", "Alamatnya [{default}]"),
    "server_key": ("Its key (hidden; Enter for none)", "Kuncinya (tidak tampak; Enter bila tidak ada)"),
    "server_model": ("Name of the model", "Nama model"),
    "server_no_address": ("An address begins with http:// or https://.", "Alamat diawali http:// atau https://."),
    "model_choose": ("Which of its models?", "Model yang mana?"),
    "server_features": (
        "What the model takes beside words and tools is told by KABAR_MODEL_FEATURES (docs/local-models.md).",
        "Apa yang bisa diterima model selain kata-kata dan alat, ditulis di KABAR_MODEL_FEATURES "
        "(docs/local-models.md).",
    ),
    "model_no_key": (
        "There is no key, or one with a character no key has. Copy it again, by itself.",
        "Tidak ada kunci, atau ada karakter yang tidak pernah ada di kunci. Salin lagi, kuncinya saja.",
    ),
    "model_no_region": ("There is no AWS region.", "Belum ada region AWS."),
    "model_key": (
        "The provider refuses this key: it is mistyped, or was deleted. Make a new one.",
        "Penyedia menolak kunci ini: salah ketik, atau sudah dihapus. Buat yang baru.",
    ),
    "model_name": ("The provider knows no model {model}.", "Penyedia tidak mengenal model {model}."),
    "model_money": (
        "The key is good, but the account has no money left. Add credit in the provider's console.",
        "Kuncinya benar, tetapi saldo akun habis. Tambah kredit di konsol penyedia.",
    ),
    "model_access": (
        "The key may not use {model}. Have the provider's console give it access, or choose another model.",
        "Kunci ini tidak boleh memakai {model}. Beri akses di konsol penyedia, atau pilih model lain.",
    ),
    "model_busy": (
        "{model} is busy at the moment (HTTP {status}). Try again in a minute.",
        "{model} sedang sibuk (HTTP {status}). Coba lagi sebentar lagi.",
    ),
    "model_away": (
        "The model can not be reached ({why}). Look at the address and the network.",
        "Model tidak terjangkau ({why}). Periksa alamat dan jaringan.",
    ),
    "model_refused": (
        "{model} refuses a plain question (HTTP {status}): {why}",
        "{model} menolak pertanyaan biasa (HTTP {status}): {why}",
    ),
    "bedrock_key": (
        "AWS refuses the credentials of this machine. Sign in again, or set AWS_PROFILE.",
        "AWS menolak kredensial komputer ini. Masuk lagi, atau atur AWS_PROFILE.",
    ),
    "bedrock_access": (
        "These credentials may not use {model}: allow bedrock:InvokeModelWithResponseStream, and ask for the "
        "model in Bedrock's console.",
        "Kredensial ini tidak boleh memakai {model}: izinkan bedrock:InvokeModelWithResponseStream, dan minta "
        "akses model itu di konsol Bedrock.",
    ),
    "bedrock_away": (
        "Bedrock can not be reached with this machine's credentials ({why}). Sign in to AWS, and look at the region.",
        "Bedrock tidak terjangkau dengan kredensial komputer ini ({why}). Masuk ke AWS, dan periksa region.",
    ),
    # The owner
    "owner_how": (
        "The bot belongs to one person, who lets others in. Whoever sends it this code, in a private chat, is "
        "that person:",
        "Bot ini milik satu orang, yang mengizinkan orang lain masuk. Siapa pun yang mengirim kode ini kepadanya, "
        "dalam obrolan pribadi, dialah pemiliknya:",
    ),
    "owner_telegram": ("Telegram: open {link} and press Start", "Telegram: buka {link} dan tekan Start"),
    "owner_slack": (
        "Slack: send {code} to {user} as a direct message",
        "Slack: kirim {code} kepada {user} sebagai pesan langsung",
    ),
    "owner_wait": (
        "I wait for it (or type an id, such as telegram:42 or slack:U0123)",
        "Saya menunggu (atau ketik id, misalnya telegram:42 atau slack:U0123)",
    ),
    "owner_unheard": (
        "The bot belongs to one person, who lets others in. Nothing can be heard from here, so type the id: a bot"
        " that runs tells it to whoever writes to it, and Slack has it in your profile (⋮, Copy member ID).",
        "Bot ini milik satu orang, yang mengizinkan orang lain masuk. Dari sini tidak ada yang bisa didengar, "
        "jadi ketik id-nya: bot yang berjalan memberitahukannya kepada siapa pun yang menulis, dan di Slack ada "
        "di profil Anda (⋮, Copy member ID).",
    ),
    "owner_id": ("Owner's id, such as telegram:42 or slack:U0123", "Id pemilik, misalnya telegram:42 atau slack:U0123"),
    "owner_form": (
        "That is nobody's id here. Write it as telegram:42 or slack:U0123, of a platform that you set up.",
        "Itu bukan id siapa pun di sini. Tulis seperti telegram:42 atau slack:U0123, dari platform yang Anda siapkan.",
    ),
    "owner": ("The owner is {id}", "Pemiliknya {id}"),
    "owner_named": ("The owner is {name} ({id})", "Pemiliknya {name} ({id})"),
    "owner_link": (
        "Your other account is a stranger to the bot until you let it in with a tap; then /link makes both one person.",
        "Akun Anda yang lain masih asing bagi bot sampai Anda mengizinkannya dengan satu ketukan; setelah itu /link "
        "menjadikan keduanya satu orang.",
    ),
    "ready": (
        "I am ready, and you are my owner. As soon as I am started, write to me here in plain words; {slash}help "
        "shows what I can do.",
        "Saya siap, dan Anda pemilik saya. Begitu saya dijalankan, tulis saja kepada saya di sini; {slash}help "
        "menunjukkan apa yang bisa saya lakukan.",
    ),
    "ready_sent": ("The bot has written to {id}", "Bot sudah menulis kepada {id}"),
    "ready_again": ("Try to write once more?", "Coba menulis sekali lagi?"),
    # Places to keep answers
    "env_unwritable": (
        "{where} can not be written ({why}). Run kabar setup in a folder that you may write to.",
        "{where} tidak bisa ditulis ({why}). Jalankan kabar setup di folder yang boleh Anda tulisi.",
    ),
    "env_unreadable": (
        "{where} can not be read from line {line} on: a quote is not closed there. Close it and run kabar setup again.",
        "{where} tidak bisa dibaca mulai baris {line}: ada tanda kutip yang tidak ditutup. Tutup lalu jalankan "
        "kabar setup lagi.",
    ),
    "aws_credentials": (
        "There are no AWS credentials here that are good. Sign in (aws sso login, or aws configure), or set "
        "AWS_PROFILE.",
        "Di sini tidak ada kredensial AWS yang berlaku. Masuk dulu (aws sso login, atau aws configure), atau atur"
        " AWS_PROFILE.",
    ),
    "aws_profile": (
        "AWS_PROFILE names a profile that is not there. aws configure list-profiles shows those that are.",
        "AWS_PROFILE menyebut profil yang tidak ada. aws configure list-profiles menunjukkan yang ada.",
    ),
    "aws_region": (
        "No AWS region is set. Set AWS_REGION to where the bot is to run, such as eu-central-1.",
        "Region AWS belum diatur. Atur AWS_REGION ke tempat bot akan berjalan, misalnya eu-central-1.",
    ),
    "aws_denied": (
        "These AWS credentials may not {right} there. Have whoever looks after the account allow it.",
        "Kredensial AWS ini tidak boleh {right} di sana. Minta pengelola akun mengizinkannya.",
    ),
    "aws_refuses": ("AWS refuses ({code}).", "AWS menolak ({code})."),
    "aws_away": (
        "AWS can not be reached ({error}). Look at the network, AWS_REGION and AWS_ENDPOINT_URL.",
        "AWS tidak terjangkau ({error}). Periksa jaringan, AWS_REGION, dan AWS_ENDPOINT_URL.",
    ),
    "aws_path": (
        "{path} is no path of SSM. Write it as /kabar/prod, not beginning with /aws or /ssm.",
        "{path} bukan path SSM. Tulis seperti /kabar/prod, tidak diawali /aws atau /ssm.",
    ),
    "url_form": (
        "{url} is no address that Telegram and Slack can deliver to: it begins with https://, and has no path.",
        "{url} bukan alamat yang bisa dituju Telegram dan Slack: awalnya https://, tanpa path.",
    ),
    # --check
    "lacks_platform": ("Neither Telegram nor Slack is set up.", "Baik Telegram maupun Slack belum disiapkan."),
    "lacks": ("{name} is missing.", "{name} belum ada."),
    "check_good": ("Nothing is missing.", "Tidak ada yang kurang."),
    "check_bad": ("To put it right: kabar setup", "Untuk membereskannya: kabar setup"),
}


def say(text: str, language: str, /, **values: str) -> str:
    """A sentence in "id" or any other language, which is English."""
    return TEXTS[text][language == "id"].format(**values)
