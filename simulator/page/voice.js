// A spoken message: from the microphone, or a short tone where there is none.

const TONE_SECONDS = 2;
const RATE = 8000;
const PITCH = 440;

/** A recording that has begun. `stop()` resolves to {file, seconds}; `cancel()` gives it up. */
class Recording {
  #recorder;
  #stream;
  #pieces = [];
  #began = Date.now();

  constructor(stream) {
    this.#stream = stream;
    this.#recorder = new MediaRecorder(stream);
    this.#recorder.addEventListener("dataavailable", ({ data }) => this.#pieces.push(data));
    this.#recorder.start();
  }

  async stop() {
    const seconds = Math.max(1, Math.round((Date.now() - this.#began) / 1000));
    const over = new Promise((resolve) => this.#recorder.addEventListener("stop", resolve));
    this.cancel();
    await over;
    const type = this.#recorder.mimeType;
    const ending = /mp4|ogg/.exec(type)?.[0] ?? "webm";
    return { file: new File(this.#pieces, `voice.${ending}`, { type }), seconds };
  }

  cancel() {
    this.#recorder.stop();
    for (const track of this.#stream.getTracks()) track.stop();
  }
}

/** Begins to record; null where there is no microphone, or the person keeps it to themselves. */
export async function record() {
  try {
    return new Recording(await navigator.mediaDevices.getUserMedia({ audio: true }));
  } catch {
    return null;
  }
}

/** What is sent in place of a voice: {file, seconds}, a tone as a WAV file of 8 bits. */
export function tone() {
  const length = RATE * TONE_SECONDS;
  const view = new DataView(new ArrayBuffer(44 + length));
  const write = (at, letters) => [...letters].forEach((letter, n) => view.setUint8(at + n, letter.charCodeAt(0)));
  write(0, "RIFF");
  view.setUint32(4, 36 + length, true);
  write(8, "WAVEfmt ");
  view.setUint32(16, 16, true);
  view.setUint16(20, 1, true);
  view.setUint16(22, 1, true);
  view.setUint32(24, RATE, true);
  view.setUint32(28, RATE, true);
  view.setUint16(32, 1, true);
  view.setUint16(34, 8, true);
  write(36, "data");
  view.setUint32(40, length, true);
  for (let n = 0; n < length; n++) view.setUint8(44 + n, 128 + 60 * Math.sin((2 * Math.PI * PITCH * n) / RATE));
  return { file: new File([view], "voice.wav", { type: "audio/wav" }), seconds: TONE_SECONDS };
}
