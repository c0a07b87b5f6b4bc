export const RUN_ENDINGS: Readonly<Record<string, string>> = {
  ok: 'ended well',
  incomplete: 'left something to do',
  failed: 'ended with problems',
}
