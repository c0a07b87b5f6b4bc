/** Thrown by a check that is impossible because of what another check reports. */
export class Unchecked extends Error {
  /** The name of the other check. */
  readonly because: string

  constructor(because: string) {
    super(`not checked, see "${because}"`)
    this.because = because
  }
}

/** Waits for what another check reports the failure of; throws Unchecked if it failed. */
export async function given<T>(value: Promise<T>, otherCheck: string): Promise<T> {
  try {
    return await value
  } catch (error) {
    throw error instanceof Unchecked ? error : new Unchecked(otherCheck)
  }
}
