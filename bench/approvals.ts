/**
 * How long a question takes from the host to the page: from `TaskClient`'s event `input` in the host's process to the
 * card in the document of a real browser, on one machine. Fifty questions, one after the other. Prints one line.
 */
import { setStage } from "../test/browser/stage.js";
import { form } from "../test/browser/forms.js";
import type { QuestionNotice } from "../examples/chat/host.js";

const QUESTIONS = 50;

const notices = new Map<string, number>();
const stage = await setStage({ tellQuestions: true }, (message) => {
  const { key, atMs } = message as QuestionNotice;
  notices.set(key, atMs);
});
try {
  const page = await stage.open();
  // The moment of each card, in the browser's own time, which is this machine's too.
  await page.evaluate(() => {
    const seen: Record<string, number> = {};
    Object.assign(globalThis, { seen });
    new MutationObserver(() => {
      const atMs = performance.timeOrigin + performance.now();
      for (const { textContent } of document.querySelectorAll(".taskrail-approval")) {
        const text = /Question number (\d+)\./.exec(textContent ?? "")?.[1];
        if (text !== undefined) seen[text] ??= atMs;
      }
    }).observe(document.body, { childList: true, subtree: true });
  });
  for (let n = 0; n < QUESTIONS; n += 1) {
    const requests = { [`q${n}`]: form(`Question number ${n}.`) };
    await page.getByLabel("Message").fill(`/call ask ${JSON.stringify({ requests })}`);
    await page.keyboard.press("Enter");
    await page.locator(".taskrail-approval", { hasText: `Question number ${n}.` }).waitFor();
  }
  const seen = await page.evaluate(() => (globalThis as unknown as { seen: Record<string, number> }).seen);
  const tookMs = Object.entries(seen)
    .map(([n, atMs]) => atMs - (notices.get(`q${n}`) ?? Number.NaN))
    .sort((a, b) => a - b);
  if (tookMs.length !== QUESTIONS || tookMs.some((ms) => !(ms >= 0)))
    throw new Error("Some questions were not measured");
  console.log(
    `notice at the host -> card in the page: median ${at(tookMs, 50)} ms, p95 ${at(tookMs, 95)} ms, ${QUESTIONS} questions`,
  );
} finally {
  await stage.close();
}

function at(sorted: readonly number[], percent: number): string {
  return (sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * percent) / 100))] ?? 0).toFixed(1);
}
