"""Every sentence of ours that a person reads, in English and Indonesian.

One plain sentence each: what happened and what to do. Which language: the one chosen for the chat, else the person's
own as the platform gives it.
"""

from collections.abc import Sequence

_TEXTS = {
    "busy": (
        "The model is overloaded right now and I could not finish. Please send your message again in a few minutes. "
        "(Reference {reference})",
        "Model sedang kelebihan beban sehingga saya tidak bisa menyelesaikannya. Silakan kirim ulang pesan Anda "
        "beberapa menit lagi. (Referensi {reference})",
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
    "start": (
        "Hello! Write to me in plain words, and send pictures and files if you like. Ask me what I can do; {slash}help "
        "lists my commands.",
        "Halo! Tulis saja dengan kata-kata biasa; gambar dan file juga boleh dikirim. Tanyakan apa saja yang bisa saya "
        "lakukan; {slash}help menampilkan perintah saya.",
    ),
    "help": (
        "Write to me in plain words, and send pictures and files; in a group or channel, mention me. While I work you "
        "can add to your question.",
        "Tulis saja dengan kata-kata biasa, dan kirim gambar atau file; di grup atau kanal, sebut nama saya. Selagi "
        "saya bekerja, Anda boleh menambah pertanyaan.",
    ),
    "help_threads": ("In a thread write `!new`, and so on.", "Di utas, tulis `!new` dan seterusnya."),
    "menu_new": ("start a new conversation", "mulai percakapan baru"),
    "menu_stop": ("stop what I am doing", "hentikan yang sedang saya kerjakan"),
    "menu_retry": ("answer the last question again", "jawab ulang pertanyaan terakhir"),
    "menu_undo": ("take the last question and answer back", "batalkan pertanyaan dan jawaban terakhir"),
    "menu_settings": ("choose how I behave here", "atur cara saya bekerja di sini"),
    "menu_language": ("English or Indonesian", "bahasa Inggris atau Indonesia"),
    "menu_model": ("choose the model that answers", "pilih model yang menjawab"),
    "menu_usage": ("what was used, and what it cost", "pemakaian dan biayanya"),
    "menu_context": ("what I see of this conversation", "yang saya lihat dari percakapan ini"),
    "menu_compact": (
        "fold the older part into a summary; add what matters",
        "ringkas bagian lamanya; tambahkan yang penting",
    ),
    "menu_memory": ("what I remember; add, delete or clear", "yang saya ingat; add, delete, atau clear"),
    "menu_instructions": ("what holds in this chat; admins write it", "aturan obrolan ini; ditulis oleh admin"),
    "menu_remind": ("reminders: list and cancel", "pengingat: lihat dan batalkan"),
    "menu_approvals": ("what waits for your approval", "yang menunggu persetujuan Anda"),
    "menu_status": ("who answers, and who you are to me", "siapa yang menjawab, dan siapa Anda bagi saya"),
    "menu_export": ("get all of this conversation as a file", "ambil seluruh percakapan ini sebagai file"),
    "menu_forget": ("delete all of this conversation", "hapus seluruh percakapan ini"),
    "menu_help": ("this page", "halaman ini"),
    "prompt_needs": ("This needs more words: {usage}", "Perintah ini perlu keterangan lagi: {usage}"),
    "prompt_unreachable": (
        "The server {server}, which that command comes from, does not answer. Please try again in a few minutes.",
        "Server {server}, asal perintah itu, tidak menjawab. Silakan coba lagi dalam beberapa menit.",
    ),
    "prompt_refused": (
        "The server {server} did not take that command: {why}",
        "Server {server} menolak perintah itu: {why}",
    ),
    "nothing_to_take_back": (
        "There is no answer in this conversation to take back or to give again.",
        "Belum ada jawaban dalam percakapan ini yang bisa dibatalkan atau diulang.",
    ),
    "out_of_sight": (
        "That lies too far back for me to take it up again. Please send it once more.",
        "Itu sudah terlalu jauh di belakang untuk saya lanjutkan. Silakan kirim sekali lagi.",
    ),
    "not_yours": (
        "The last question here is somebody else's: only they can take it back or have it answered again.",
        "Pertanyaan terakhir di sini milik orang lain: hanya dia yang bisa membatalkan atau mengulanginya.",
    ),
    "taken_back": (
        "Done: I go on as if your last question had not been asked.",
        "Baik: saya lanjutkan seolah pertanyaan terakhir Anda tidak pernah ada.",
    ),
    "settings": ("**Settings of this chat**", "**Pengaturan obrolan ini**"),
    "setting_language": ("Language", "Bahasa"),
    "setting_meanwhile": ("What you write while I work", "Yang Anda tulis selagi saya bekerja"),
    "setting_model": ("Model", "Model"),
    "setting_follow": ("Answer in this thread without a mention", "Jawab di utas ini tanpa disebut"),
    "choice_steer": ("is added", "ditambahkan"),
    "choice_queue": ("waits", "menunggu"),
    "choice_interrupt": ("comes first", "didahulukan"),
    "on": ("on", "ya"),
    "off": ("off", "tidak"),
    "language_auto": ("as in your app", "ikuti aplikasi Anda"),
    "language": ("Which language shall I use here?", "Bahasa apa yang saya pakai di sini?"),
    "language_set": ("From now on I write English here.", "Mulai sekarang saya menulis bahasa Indonesia di sini."),
    "model": (
        "{model} answers here. To choose another: {slash}model and its name. There are: {models}",
        "{model} yang menjawab di sini. Untuk memilih yang lain: {slash}model dan namanya. Yang tersedia: {models}",
    ),
    "model_unknown": (
        "I do not have that model. {model} answers here. There are: {models}",
        "Model itu tidak tersedia. {model} yang menjawab di sini. Yang tersedia: {models}",
    ),
    "model_set": ("From now on {model} answers here.", "Mulai sekarang {model} yang menjawab di sini."),
    "forget": (
        "This deletes for good what I keep of this conversation: messages, answers, files, summaries, settings and its "
        "share of the usage. It can not be undone.",
        "Ini menghapus selamanya semua yang saya simpan dari percakapan ini: pesan, jawaban, file, ringkasan, "
        "pengaturan, dan catatan pemakaiannya. Tidak bisa dibatalkan.",
    ),
    "forget_yes": ("Delete everything", "Hapus semuanya"),
    "forgotten": (
        "Deleted: this conversation's messages, answers, files, summaries, settings and usage. What I know of you "
        "in all chats goes with {slash}forget me. Messages in this app are yours to delete.",
        "Terhapus: pesan, jawaban, file, ringkasan, pengaturan, dan pemakaian percakapan ini. Yang saya ketahui "
        "tentang Anda di semua obrolan terhapus dengan {slash}forget saya. Pesan di aplikasi ini bisa Anda hapus "
        "sendiri.",
    ),
    "forget_me": (
        "This deletes for good what I know of you in all chats: what I remember, your name, language, time zone and a "
        "linked account. Conversations stay: {slash}forget deletes one. It can not be undone.",
        "Ini menghapus selamanya semua yang saya ketahui tentang Anda di semua obrolan: ingatan, nama, bahasa, zona "
        "waktu, dan akun yang tertaut. Percakapan tetap ada: hapus dengan {slash}forget. Tidak bisa dibatalkan.",
    ),
    "forget_me_yes": ("Forget me", "Lupakan saya"),
    "forgotten_me": (
        "Deleted: all I knew of you in all chats. Whether you may talk to me stays as my owner decided.",
        "Terhapus: semua yang saya ketahui tentang Anda di semua obrolan. Izin Anda berbicara dengan saya tetap "
        "seperti yang diputuskan pemilik saya.",
    ),
    "exported": (
        "Here is all I keep of this conversation: {entries} entries.",
        "Ini semua yang saya simpan dari percakapan ini: {entries} entri.",
    ),
    "status": ("**Status**", "**Status**"),
    "status_model": ("Model", "Model"),
    "status_usual": ("the usual one", "yang biasa"),
    "status_turns": ("Questions I still see", "Pertanyaan yang masih saya lihat"),
    "status_you": ("You", "Anda"),
    "role_owner": ("my owner", "pemilik saya"),
    "role_member": ("let in", "diizinkan"),
    "memory_person": ("What I remember about you, in all our private chats:", "Yang saya ingat tentang Anda:"),
    "memory_chat": ("What I remember about this chat:", "Yang saya ingat tentang obrolan ini:"),
    "memory_empty": ("I remember nothing yet.", "Belum ada yang saya ingat."),
    "memory_how": (
        "{slash}memory add, change (a number and new words), delete (a number) or clear.",
        "{slash}memory add, change (nomor dan kata-kata baru), delete (nomor), atau clear.",
    ),
    "memory_none": ("There is nothing of that number.", "Tidak ada yang bernomor itu."),
    "memory_full": (
        "I remember {most} things here already; please delete one first.",
        "Sudah {most} hal yang saya ingat di sini; silakan hapus satu dulu.",
    ),
    "rules_here": ("Instructions for this chat, by {who}:", "Instruksi untuk obrolan ini, dari {who}:"),
    "rules_none": (
        "There are no instructions of its own for this chat.",
        "Belum ada instruksi khusus untuk obrolan ini.",
    ),
    "rules_set": ("From now on this holds here.", "Mulai sekarang ini berlaku di sini."),
    "rules_cleared": (
        "The instructions of this chat are gone.",
        "Instruksi obrolan ini sudah dihapus.",
    ),
    "rules_denied": (
        "Only my owner, or an admin of this group whom my owner let in, can change the instructions of this chat.",
        "Hanya pemilik saya, atau admin grup ini yang diizinkannya, yang bisa mengubah instruksi obrolan ini.",
    ),
    "rules_long": (
        "That has {chars} characters, and I take {most} at most: nothing was changed, please shorten it.",
        "Teks itu {chars} karakter, sedangkan batasnya {most}: tidak ada yang diubah, silakan dipersingkat.",
    ),
    "rules_how": (
        "{slash}instructions and a text replaces them, {slash}instructions clear takes them away.",
        "{slash}instructions dan sebuah teks menggantinya, {slash}instructions clear menghapusnya.",
    ),
    "unheard": (
        "I can't listen to voice messages here. Please write it instead.",
        "Saya belum bisa mendengarkan pesan suara di sini. Silakan tulis saja.",
    ),
    "meanwhile": (
        "What you write while I work is added to it, waits its turn, or comes first and ends what I am doing. Which "
        "shall it be here?",
        "Yang Anda tulis selagi saya bekerja bisa ditambahkan, menunggu giliran, atau didahulukan sehingga yang sedang "
        "saya kerjakan dihentikan. Mana yang dipakai di sini?",
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
    "context_rules": ("this chat's own instructions", "instruksi khusus obrolan ini"),
    "context_skills": ("list of skills", "daftar keahlian"),
    "context_tools": ("tools", "alat"),
    "context_summary": ("summary of what was said earlier", "ringkasan dari yang dibicarakan sebelumnya"),
    "context_messages": ("messages", "pesan"),
    "context_results": ("results of tools", "hasil dari alat"),
    "context_media": ("pictures and documents", "gambar dan dokumen"),
    "context_total": (
        "Together {total}. Above {most} I fold the older part into a summary; {slash}compact does it now.",
        "Seluruhnya {total}. Di atas {most} bagian lama saya ringkas; {slash}compact melakukannya sekarang.",
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
    "denied_asked": (
        "This bot is private. I have asked its owner to let you in; your id is {person}.",
        "Bot ini pribadi. Saya sudah meminta pemiliknya memberi Anda akses; id Anda {person}.",
    ),
    "knock": (
        "{who} ({person}) wrote to me and is not let in. What shall they be?",
        "{who} ({person}) menulis kepada saya dan belum punya akses. Beri akses sebagai apa?",
    ),
    "added": (
        "{who} ({person}) has added me to the Slack workspace {workspace}. Nobody there can talk to me until you let "
        "them in.",
        "{who} ({person}) menambahkan saya ke ruang kerja Slack {workspace}. Tidak ada orang di sana yang bisa "
        "berbicara dengan saya sebelum Anda memberi akses.",
    ),
    "let_member": ("Member", "Anggota"),
    "let_guest": ("Guest", "Tamu"),
    "let_never": ("Never", "Jangan pernah"),
    "let_in": (
        "My owner has let you in. Write to me in plain words; {slash}help shows what I can do.",
        "Pemilik saya telah memberi Anda akses. Tulis saja; {slash}help menunjukkan yang bisa saya lakukan.",
    ),
    "role_now_member": ("{person} is a member now.", "{person} sekarang menjadi anggota."),
    "role_now_guest": ("{person} is a guest now.", "{person} sekarang menjadi tamu."),
    "role_now_banned": (
        "{person} stays out, and I do not ask again.",
        "{person} tidak diberi akses dan tidak akan ditanyakan lagi.",
    ),
    "role_now_none": ("{person} is a stranger now.", "{person} sekarang tidak punya akses."),
    "appoint_how": (
        "{slash}appoint and an id such as telegram:42, then member, guest, banned, or nothing for a stranger.",
        "{slash}appoint lalu id seperti telegram:42, lalu member, guest, banned, atau kosong untuk mencabut akses.",
    ),
    "owner_only": ("Only my owner can do that.", "Hanya pemilik saya yang bisa melakukannya."),
    "members_only": (
        "A guest can not do that here. Ask somebody whom my owner has let in as a member.",
        "Tamu tidak bisa melakukannya di sini. Mintalah kepada orang yang dijadikan anggota oleh pemilik saya.",
    ),
    "groups_only": ("That is for groups and channels.", "Itu untuk grup dan kanal."),
    "private_only": ("Please write that to me in private.", "Silakan tulis itu kepada saya secara pribadi."),
    "chat_open": (
        "Everybody here may use me as a guest from now on. {slash}disallow ends it.",
        "Mulai sekarang semua orang di sini boleh memakai saya sebagai tamu. {slash}disallow mengakhirinya.",
    ),
    "chat_closed": (
        "From now on only people who are let in themselves may use me here.",
        "Mulai sekarang hanya orang yang diberi akses sendiri yang boleh memakai saya di sini.",
    ),
    "menu_link": ("be one person in Telegram and Slack", "jadi satu orang di Telegram dan Slack"),
    "link_code": (
        "Within {minutes} minutes, write to me in private from your other account: in Telegram `/link {code}`, in "
        "Slack `/kabar link {code}`.",
        "Dalam {minutes} menit, tulis kepada saya secara pribadi dari akun Anda yang lain: di Telegram `/link {code}`, "
        "di Slack `/kabar link {code}`.",
    ),
    "link_wrong": (
        "This code is not good, or no longer. Your other account gets a new one: in Telegram with `/link`, in Slack "
        "with `/kabar link`.",
        "Kode ini salah atau sudah tidak berlaku. Minta kode baru dari akun Anda yang lain: di Telegram dengan "
        "`/link`, di Slack dengan `/kabar link`.",
    ),
    "linked": (
        "Your accounts are one to me now: what I remember, your budget, language and time zone. Conversations stay "
        "apart. {slash}unlink ends it.",
        "Akun-akun Anda sekarang satu bagi saya: yang saya ingat, jatah, bahasa, dan zona waktu. Percakapan tetap "
        "terpisah. {slash}unlink mengakhirinya.",
    ),
    "unlinked": (
        "This account stands for itself again.",
        "Akun ini kembali berdiri sendiri.",
    ),
    "role_guest": ("a guest", "tamu"),
    "anonymous": (
        "You write as an anonymous admin, so I can not tell who you are. Stop being anonymous in this group, "
        "and ask again.",
        "Anda menulis sebagai admin anonim, jadi saya tidak tahu siapa Anda. Matikan mode anonim di grup ini, "
        "lalu tanya lagi.",
    ),
    "denied": (
        "This bot is private. Your id is {person}; its owner can let you in with it.",
        "Bot ini pribadi. Id Anda {person}; pemiliknya bisa memberi Anda akses dengan id itu.",
    ),
    "late": (
        "I was away and your older messages are too old to answer one by one. Please ask again what still matters.",
        "Saya sempat tidak aktif dan pesan-pesan Anda sudah terlalu lama untuk dijawab satu per satu. Silakan "
        "tanyakan lagi yang masih penting.",
    ),
    "over_person": (
        "You have used up today's budget of this bot. It begins anew {when}; {slash}usage shows the figures.",
        "Jatah Anda untuk hari ini sudah habis. Jatah baru dimulai {when}; {slash}usage menampilkan angkanya.",
    ),
    "over_chat": (
        "This chat has used up today's budget of this bot. It begins anew {when}; {slash}usage shows the figures.",
        "Jatah obrolan ini untuk hari ini sudah habis. Jatah baru dimulai {when}; {slash}usage menampilkan angkanya.",
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
    "in_minute": ("in 1 minute, at 00:00 UTC", "dalam 1 menit, pada pukul 00.00 UTC"),
    "in_minutes": ("in {minutes} minutes, at 00:00 UTC", "dalam {minutes} menit, pada pukul 00.00 UTC"),
    "usage": (
        "**Usage** (days and months in UTC, prices of {date})",
        "**Pemakaian** (hari dan bulan dalam UTC, harga per {date})",
    ),
    "usage_line": (
        "- {whose}: {turns}, {tokens} tokens, {cached}% of the reading from the cache, {cost}",
        "- {whose}: {turns}, {tokens} token, {cached}% bacaan dari cache, {cost}",
    ),
    "usage_one": (
        "- {whose}: {tokens} tokens, {cached}% of the reading from the cache, {cost}",
        "- {whose}: {tokens} token, {cached}% bacaan dari cache, {cost}",
    ),
    "usage_answer": ("1 answer", "1 jawaban"),
    "usage_answers": ("{count} answers", "{count} jawaban"),
    "usage_limit": ("of {limit}", "dari {limit}"),
    "usage_last": ("The last answer", "Jawaban terakhir"),
    "usage_person_day": ("You, today", "Anda, hari ini"),
    "usage_person_month": ("You, this month", "Anda, bulan ini"),
    "usage_chat_day": ("This chat, today", "Obrolan ini, hari ini"),
    "usage_chat_month": ("This chat, this month", "Obrolan ini, bulan ini"),
    "usage_all_day": ("Everybody, today", "Semua orang, hari ini"),
    "usage_all_month": ("Everybody, this month", "Semua orang, bulan ini"),
    "usage_unpriced_one": (
        "1 call went to a model whose price I do not know; it counts as free.",
        "1 panggilan memakai model yang harganya tidak saya ketahui; dihitung gratis.",
    ),
    "usage_unpriced": (
        "{calls} calls went to a model whose price I do not know; they count as free.",
        "{calls} panggilan memakai model yang harganya tidak saya ketahui; semuanya dihitung gratis.",
    ),
    "good": ("👍 Good answer", "👍 Jawaban bagus"),
    "bad": ("👎 Bad answer", "👎 Jawaban buruk"),
    "approvals_none": ("Nothing waits for your approval.", "Tidak ada yang menunggu persetujuan Anda."),
    "approvals_allowed": (
        "Nothing waits for your approval. For now these need not ask here: {tools}",
        "Tidak ada yang menunggu persetujuan Anda. Untuk sementara ini tidak perlu bertanya di sini: {tools}",
    ),
    "may_i": ("May I do this: {tool}?", "Boleh saya lakukan ini: {tool}?"),
    "may_run_python": ("May I run this Python?", "Boleh saya jalankan Python ini?"),
    "may_remind": ("May I set this reminder?", "Boleh saya pasang pengingat ini?"),
    "may_remember": ("May I remember this?", "Boleh saya ingat ini?"),
    "may_web_fetch": ("May I open this address?", "Boleh saya buka alamat ini?"),
    "approve": ("Approve once", "Setujui sekali"),
    "deny": ("Deny", "Tolak"),
    "approve_hour": ("Approve here for an hour", "Setujui di sini selama satu jam"),
    "was_approved": ("✓ Approved by {person}.", "✓ Disetujui oleh {person}."),
    "was_denied": ("✗ Not approved.", "✗ Tidak disetujui."),
    "home_intro": (
        "Write to me in plain words here in Messages, or mention me in a channel.",
        "Tulis saja dengan kata-kata biasa di Pesan, atau sebut nama saya di kanal.",
    ),
    "home_settings": (
        "Settings: `/kabar settings`; all commands: `/kabar help`. In a thread write `!stop` or `!new`.",
        "Pengaturan: `/kabar settings`; semua perintah: `/kabar help`. Di utas tulis `!stop` atau `!new`.",
    ),
    "home_suggestions": ("To begin with", "Untuk memulai"),
    "prompt_can": ("What can you do?", "Apa yang bisa kamu lakukan?"),
    "prompt_summary": ("Summarise a file", "Ringkas sebuah file"),
    "sources": ("Sources", "Sumber"),
    "no_file": (
        "A file could not be sent here: {names}",
        "Ada file yang tidak bisa dikirim ke sini: {names}",
    ),
    "doing_calculator": ("Calculating…", "Menghitung…"),
    "doing_current_time": ("Looking at the clock…", "Melihat jam…"),
    "doing_reopen": ("Looking something up again…", "Membuka kembali…"),
    "doing_web_search": ("Searching the web…", "Mencari di web…"),
    "doing_web_fetch": ("Reading a web page…", "Membaca halaman web…"),
    "doing_list_files": ("Looking at the files…", "Melihat daftar file…"),
    "doing_read_file": ("Reading a file…", "Membaca file…"),
    "doing_search_files": ("Searching the files…", "Mencari di dalam file…"),
    "doing_write_file": ("Writing a file…", "Menulis file…"),
    "doing_send_file": ("Sending a file…", "Mengirim file…"),
    "doing_skill": ("Looking up how it is done…", "Melihat cara mengerjakannya…"),
    "doing_upload_files": ("Preparing the files…", "Menyiapkan file…"),
    "doing_run_python": ("Running Python…", "Menjalankan Python…"),
    "doing_remember": ("Making a note…", "Mencatat…"),
    "doing_forget_fact": ("Deleting a note…", "Menghapus catatan…"),
    "doing_remind": ("Setting a reminder…", "Memasang pengingat…"),
    "doing_delegate": ("Asking {who}…", "Bertanya kepada {who}…"),
    "reminder": ("⏰ {text}", "⏰ {text}"),
    "reminder_for": ("⏰ {who}: {text}", "⏰ {who}: {text}"),
    "reminder_late": (
        "(This was for {time}; I could not tell you earlier.)",
        "(Ini untuk {time}; saya tidak bisa menyampaikannya lebih awal.)",
    ),
    "reminder_paused": (
        "Nobody has written here for the last {times} of these, so I pause it.",
        "Tidak ada yang menulis di sini selama {times} pengingat terakhir ini, jadi saya jeda.",
    ),
    "scheduled_paused": (
        "Nobody has written here for the last {times} answers to a scheduled question, so I pause it: {text}",
        "Tidak ada yang menulis di sini selama {times} jawaban terakhir untuk pertanyaan terjadwal, jadi saya jeda: "
        "{text}",
    ),
    "reminders": ("**Reminders of this chat**", "**Pengingat obrolan ini**"),
    "reminders_none": (
        "There are no reminders in this chat. Ask me in plain words, such as: remind me tomorrow at 9 to call Ann.",
        "Belum ada pengingat di obrolan ini. Minta dengan kata-kata biasa, misalnya: ingatkan saya besok jam 9 untuk "
        "menelepon Ani.",
    ),
    "reminders_how": (
        "To cancel one, tap its button or tell me which.",
        "Untuk membatalkan, ketuk tombolnya atau katakan yang mana.",
    ),
    "reminder_cancel": ("Cancel {number}", "Batalkan {number}"),
    "reminder_resume": ("Resume {number}", "Lanjutkan {number}"),
    "reminder_cancelled": ("Cancelled: {text}", "Dibatalkan: {text}"),
    "reminder_resumed": ("It goes on, next on {time}: {text}", "Dilanjutkan, berikutnya {time}: {text}"),
    "reminder_gone": ("There is no such reminder any more.", "Pengingat itu sudah tidak ada."),
    "reminder_asks": ("I answer it then", "saya jawab saat itu"),
    "paused": ("paused", "dijeda"),
    "zone_unknown": (
        "I do not know your time zone, so times are in UTC. Tell me where you live.",
        "Saya belum tahu zona waktu Anda, jadi waktunya dalam UTC. Beri tahu saya di mana Anda tinggal.",
    ),
    "zone_missing": (
        "I do not know the time zone {zone}. Write one such as Asia/Jakarta.",
        "Saya tidak mengenal zona waktu {zone}. Tulis misalnya Asia/Jakarta.",
    ),
    "zone_set": ("Your time zone is kept. It is now {time}.", "Zona waktu Anda disimpan. Sekarang {time}."),
    "weekdays": ("Mon Tue Wed Thu Fri Sat Sun", "Sen Sel Rab Kam Jum Sab Min"),
    "every_hourly": ("every hour", "setiap jam"),
    "every_daily": ("every day", "setiap hari"),
    "every_weekly": ("every week", "setiap minggu"),
    "every_monthly": ("every month", "setiap bulan"),
    "every_yearly": ("every year", "setiap tahun"),
    "each_hourly": ("every {n} hours", "setiap {n} jam"),
    "each_daily": ("every {n} days", "setiap {n} hari"),
    "each_weekly": ("every {n} weeks", "setiap {n} minggu"),
    "each_monthly": ("every {n} months", "setiap {n} bulan"),
    "each_yearly": ("every {n} years", "setiap {n} tahun"),
    "doing_list_reminders": ("Looking at the reminders…", "Melihat daftar pengingat…"),
    "doing_cancel_reminder": ("Cancelling a reminder…", "Membatalkan pengingat…"),
    "doing_set_time_zone": ("Noting a time zone…", "Mencatat zona waktu…"),
    "not_taken": (
        "This was not taken up: the caller is not let in here, or asks too often.",
        "Ini tidak dikerjakan: pemanggil belum diberi akses di sini, atau terlalu sering bertanya.",
    ),
    "doing_ask_agent": ("Asking another agent…", "Bertanya kepada agen lain…"),
    "doctor_looks": ("Looking at everything…", "Memeriksa semuanya…"),
    "doctor": (
        "**Examined**: {red} red, {yellow} yellow, {green} green",
        "**Hasil pemeriksaan**: {red} merah, {yellow} kuning, {green} hijau",
    ),
    "menu_doctor": ("what is set up well and what is not", "apa yang sudah beres dan apa yang belum"),
    "working": ("Working: {tools}…", "Sedang bekerja: {tools}…"),
}


def say(name: str, language: str, **values: str) -> str:
    """The sentence in the person's language: Indonesian for "id" and "id-…", English otherwise."""
    english, indonesian = _TEXTS[name]
    return (indonesian if is_indonesian(language) else english).format(**values)


def is_indonesian(language: str) -> bool:
    return language.lower().partition("-")[0] in ("id", "in")  # "in" is what old Android versions send


def may(tool: str, language: str) -> str:
    """The question whether it may run; by its name where we have no words for it."""
    known = f"may_{tool}"
    return say(known, language) if known in _TEXTS else say("may_i", language, tool=tool)


def doing(tools: Sequence[str], language: str) -> str:
    """What these tools are at, in a line; by their names where we have no words for them. Behind a colon may stand whom
    a tool asks."""
    named = [tool.partition(":") for tool in tools]
    known = [say(f"doing_{tool}", language, who=who) for tool, _, who in named if f"doing_{tool}" in _TEXTS]
    others = ", ".join(tool for tool, _, _ in named if f"doing_{tool}" not in _TEXTS)
    return " ".join(known + ([say("working", language, tools=others)] if others else []))
