import { escapeText } from '../../foundation/text/safe-text.ts'

/** Matches everything except joiners (Persian, emoji) and direction marks (Hebrew, dates in Arabic), which reorder no letters. */
const BUT_JOINERS_AND_MARKS = /[^\u200c-\u200f\u061c]+/g

/** Matches control characters except white space, and characters that embed, override or isolate a direction of writing. */
const UNSAFE_IN_CONTENT = /[[\p{Cc}\u202a-\u202e\u2066-\u2069]--\s]/gv

/** Returns a name, a message or any other text of one line as a page shows it: no part of it reorders, moves or hides another part. */
export function escapeShown(text: string): string {
  return text.replace(BUT_JOINERS_AND_MARKS, escapeText)
}

/** Returns the text of a document as a page shows it, with its line breaks, tabs and soft hyphens. */
export function escapeContent(text: string): string {
  return text.replace(UNSAFE_IN_CONTENT, escapeText)
}
