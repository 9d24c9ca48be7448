// SPDX-License-Identifier: Apache-2.0
// @ts-check
// The sound of a piece put down: off by default, and remembered by the browser.

const NAME = "hyoka-sound";
const SECONDS = 0.06;
/** @type {AudioContext | null} */
let audio = null;

function isOn() {
  return localStorage.getItem(NAME) === "on";
}

/** Make the sound of a move, if sounds are on. */
export function playSound() {
  showSwitch();
  if (!isOn()) return;
  audio ??= new AudioContext();
  const length = Math.round(audio.sampleRate * SECONDS);
  const buffer = audio.createBuffer(1, length, audio.sampleRate);
  const samples = buffer.getChannelData(0);
  for (let i = 0; i < length; i += 1) {
    samples[i] = (Math.random() * 2 - 1) * Math.exp((-9 * i) / length) * 0.25;
  }
  const source = new AudioBufferSourceNode(audio, { buffer });
  source.connect(new BiquadFilterNode(audio, { type: "bandpass", frequency: 1400, Q: 0.8 })).connect(audio.destination);
  source.start();
}

/** Show whether sounds are on. */
function showSwitch() {
  document.getElementById("sound")?.setAttribute("aria-pressed", String(isOn()));
}

/** Listen to the switch. */
export function watchSound() {
  showSwitch();
  document.addEventListener("htmx:afterSettle", showSwitch);
  document.addEventListener("click", (event) => {
    if (!(event.target instanceof Element) || !event.target.closest("#sound")) return;
    localStorage.setItem(NAME, isOn() ? "off" : "on");
    playSound();
  });
}
