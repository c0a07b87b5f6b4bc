import type { Tokenizer } from '@huggingface/tokenizers'

/** Turns a text into the numbers of at most `maxTokens` tokens; undefined for a text that has none. */
export type TokenizeText = (text: string) => readonly number[] | undefined

const ANY_TEXT = 'text'

/**
 * A tokenizer frames each text in tokens of its own, such as [CLS] and [SEP]. A text that is too long loses its end, never the
 * frame, whose last token stands for the text in some models.
 */
export function createTokenizeText(tokenizer: Tokenizer, maxTokens: number): TokenizeText {
  const bare = (text: string) => tokenizer.encode(text, { add_special_tokens: false }).ids
  const framed = (text: string) => tokenizer.encode(text).ids
  const [inner, whole] = [bare(ANY_TEXT), framed(ANY_TEXT)]
  const start = whole.indexOf(inner[0] ?? -1)
  if (start < 0) throw new Error('it has no tokens for a simple word')
  const [before, after] = [whole.slice(0, start), whole.slice(start + inner.length)]
  const space = maxTokens - before.length - after.length
  if (space < 1) throw new Error(`its frame has more than the ${maxTokens} tokens that the model takes`)
  return (text) => {
    const ids = bare(text).slice(0, space)
    return ids.length === 0 ? undefined : [...before, ...ids, ...after]
  }
}
