/** How a run ended, in words, by its verdict. A verdict that is not here is shown as it is. */
export const RUN_ENDINGS: Readonly<Record<string, string>> = {
  ok: 'ended well',
  incomplete: 'left something to do',
  failed: 'ended with problems',
}
