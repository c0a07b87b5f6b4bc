const MAX_TRIES = 5
const MAX_WAIT_S = 120

/** Repeats a request that is answered with 429 after the time that the service names, a few times. */
export async function askPatiently(
  ask: () => Promise<Response>,
  wait: (durationMs: number) => Promise<unknown>,
): Promise<Response> {
  for (let tries = 1; ; tries += 1) {
    const answer = await ask()
    if (answer.status !== 429 || tries === MAX_TRIES) return answer
    await answer.body?.cancel()
    const seconds = Number(answer.headers.get('retry-after') ?? 1)
    await wait(Math.min(Number.isFinite(seconds) ? seconds : 1, MAX_WAIT_S) * 1_000)
  }
}
