"""What the demo model says, in English and Indonesian."""

import re
from dataclasses import dataclass

INDONESIAN_WORDS = re.compile(
    r"\b(ada|adalah|aku|apa|baca|bagaimana|berapa|berkas|bisa|buat|buatkan|buka|cari|carikan|daftar|dari|dengan|gambar"
    r"|grafik|halo|hari ini|ingat|ingatkan|ini|itu|jam|kamu|kirim|kirimkan|lagi|lambat|lihat|lupakan|panjang|pelan"
    r"|pengingat|persen|pukul|ringkas\w*|rangkum\w*|saya|selamat|siapa|tanggal|telusuri|terima|tidak|tolong|untuk|yang"
    r"|zona waktu)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Texts:
    """What stands in braces: ``result`` {sum} and {value}; ``time`` and ``failed`` {value}; ``known`` and ``noted``
    {thing} and {fact}; ``unknown`` {thing}; ``tool`` {name} and {value}; ``picture`` {size} in pixels; ``pictures``
    {count} and {sizes}; ``read`` {about} and {excerpt}, ``file`` and ``thing`` {about}.
    """

    opening: str
    help: str
    result: str
    time: str
    failed: str
    denied: str
    known: str
    unknown: str
    noted: str
    tool: str
    picture: str
    pictures: str
    read: str
    file: str
    thing: str
    summary: str
    no_calculator: str
    no_clock: str
    slow: str
    long: str


ENGLISH = Texts(
    opening="_I am the offline demo: a small script, not an AI model. Set `ANTHROPIC_API_KEY` to talk to Claude._",
    help="""\
Here is what I can show you:

- **tools**: ask *what is 12\\*7+3*, or two sums at once; *what time is it*
- **memory**: tell me *my name is Ayu*, later ask *what is my name*; or say *remember that I like tea*
- **files**: send me some; say *list files*, *make a file*, *read* and a name, or *look at it again*
- **Python**: say *draw a chart*; I ask before I run it
- **reminders**: say *remind me in 2 minutes to stretch*, or *list reminders*
- **the web**: say *search for Bromo weather*, or *open* and an address; *research Bromo weather* asks another agent
- **skills**: say *summarise this thread*
- **streaming**: say *long* or *slow*""",
    result="`{sum}` = **{value}**",
    time="It is **{value}**.",
    failed="The tool could not do it: {value}",
    denied="All right, I leave that.",
    known="Your {thing} is **{fact}**: you told me.",
    unknown="You have not told me your {thing} yet, or it is no longer in what I can see of this chat.",
    noted="Noted: your {thing} is **{fact}**. Ask me later.",
    tool="The tool `{name}` says:\n\n{value}",
    picture="I see a picture, {size} pixels. A script has no eyes for more: Claude would look at it.",
    pictures="I see {count} pictures ({sizes} pixels). A script has no eyes for more: Claude would look at them.",
    read="I got a file: {about}. It begins: “{excerpt}”",
    thing="I got what you sent: {about}",
    file="I got a file: {about}. A script can not look into it.",
    summary="What was said before:",
    no_calculator="That is a sum, but no calculator is offered to me here, and I do not guess.",
    no_clock="No clock is offered to me here, and I do not guess.",
    slow=(
        "I am writing slowly on purpose, so that you can watch the message grow, send another one while I am at it, "
        "or stop me with /stop. Every few words the same message is edited in place. When I am done, it stays as one "
        "message, as if I had written it in one go."
    ),
    long="""\
# A long answer

This answer has everything a chat app shows in its own way: **bold**, *italic*, `code`, a [link](https://docs.claude.com).

## How a message travels

1. The platform calls the webhook, which checks who sent it.
2. The message is stored **before** the platform hears *OK*.
3. A worker wakes up, asks the model, runs its tools and streams the answer.

> What was accepted is never lost: a worker that dies is followed by another, which goes on where it stopped.

## A little code

```python
def fibonacci(count: int) -> list[int]:
    numbers = [0, 1]
    while len(numbers) < count:
        numbers.append(numbers[-1] + numbers[-2])
    return numbers[:count]
```

## A table

| part | where it runs | what it costs at rest |
|---|---|---|
| webhook | Lambda | nothing |
| worker | Lambda | nothing |
| memory | DynamoDB | almost nothing |

## And in the end

- A list can hold *styled* words.
- It can be as long as it must be:
    - also with a second level,
    - and a third thought.

That was long enough to watch it grow, and to see where one message ends and the next begins.""",
)

INDONESIAN = Texts(
    opening="_Saya demo luring: skrip kecil, bukan model AI. Isi `ANTHROPIC_API_KEY` untuk bicara dengan Claude._",
    help="""\
Ini yang bisa saya tunjukkan:

- **alat**: tanya *berapa 12\\*7+3*, atau dua hitungan sekaligus; *jam berapa sekarang*
- **ingatan**: katakan *nama saya Ayu*, lalu tanya *siapa nama saya*; atau *ingat bahwa saya suka teh*
- **file**: kirim saja; katakan *daftar file*, *buat file*, *baca* dan namanya, atau *lihat lagi*
- **Python**: katakan *buat grafik*; saya bertanya dulu sebelum menjalankannya
- **pengingat**: katakan *ingatkan saya 2 menit lagi untuk minum*, atau *daftar pengingat*
- **web**: katakan *cari cuaca Bromo di internet*, atau *buka* dan sebuah alamat; *telusuri cuaca Bromo* bertanya
  kepada agen lain
- **keahlian**: katakan *rangkum utas ini*
- **aliran teks**: katakan *panjang* atau *pelan*""",
    result="`{sum}` = **{value}**",
    time="Sekarang **{value}**.",
    failed="Alatnya tidak berhasil: {value}",
    denied="Baik, tidak saya lakukan.",
    known="Anda pernah bilang: {thing} Anda **{fact}**.",
    unknown="Anda belum memberi tahu {thing} Anda, atau itu tidak lagi terlihat oleh saya di obrolan ini.",
    noted="Saya catat: {thing} Anda **{fact}**. Tanyakan lagi nanti.",
    tool="Alat `{name}` menjawab:\n\n{value}",
    picture="Saya melihat sebuah gambar, {size} piksel. Lebih dari itu tidak bisa: Claude yang bisa melihatnya.",
    pictures="Saya melihat {count} gambar ({sizes} piksel). Lebih dari itu tidak bisa: Claude yang bisa melihatnya.",
    read="Saya menerima file: {about}. Awalnya: “{excerpt}”",
    thing="Saya menerima kiriman Anda: {about}",
    file="Saya menerima file: {about}. Sebuah skrip tidak bisa melihat isinya.",
    summary="Yang dikatakan sebelumnya:",
    no_calculator="Itu hitungan, tetapi di sini saya tidak diberi kalkulator, dan saya tidak menebak.",
    no_clock="Di sini saya tidak diberi jam, dan saya tidak menebak.",
    slow=(
        "Saya sengaja menulis pelan, supaya Anda bisa melihat pesan ini tumbuh, mengirim pesan lain sementara itu, "
        "atau menghentikan saya dengan /stop. Setiap beberapa kata, pesan yang sama diperbarui di tempatnya. Setelah "
        "selesai, ia menjadi satu pesan, seolah ditulis sekaligus."
    ),
    long="""\
# Jawaban panjang

Jawaban ini berisi semua yang ditampilkan aplikasi obrolan dengan caranya sendiri: **tebal**, *miring*, `kode`, dan
[tautan](https://docs.claude.com).

## Perjalanan sebuah pesan

1. Platform memanggil webhook, yang memeriksa siapa pengirimnya.
2. Pesan disimpan **sebelum** platform mendengar *OK*.
3. Sebuah pekerja bangun, bertanya kepada model, menjalankan alatnya, dan mengalirkan jawaban.

> Yang sudah diterima tidak pernah hilang: pekerja yang mati diganti yang lain, yang meneruskan dari tempat terakhir.

## Sedikit kode

```python
def fibonacci(jumlah: int) -> list[int]:
    angka = [0, 1]
    while len(angka) < jumlah:
        angka.append(angka[-1] + angka[-2])
    return angka[:jumlah]
```

## Sebuah tabel

| bagian | berjalan di | biaya saat diam |
|---|---|---|
| webhook | Lambda | tidak ada |
| pekerja | Lambda | tidak ada |
| ingatan | DynamoDB | hampir tidak ada |

## Akhirnya

- Daftar boleh berisi kata *bergaya*.
- Panjangnya boleh seperlunya:
    - juga dengan tingkat kedua,
    - dan pikiran ketiga.

Itu cukup panjang untuk melihatnya tumbuh, dan di mana satu pesan berakhir dan yang berikutnya mulai.""",
)
