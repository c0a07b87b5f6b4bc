import { escapeText } from '../../foundation/text/safe-text.ts'

/** All but what reorders no letters and some scripts need: joiners (Persian, emoji) and marks of a direction (Hebrew, dates in Arabic). */
const BUT_JOINERS_AND_MARKS = /[^\u200c-\u200f\u061c]+/g

/** Control characters but for blanks and ends of lines; embeddings, overrides and isolates of a direction. */
const REORDERS = /[[\p{Cc}\u202a-\u202e\u2066-\u2069]--\s]/gv

/** Returns a name, a message or any other text of one line as a page shows it: nothing in it reorders, moves or hides another part. */
export function escapeShown(text: string): string {
  return text.replace(BUT_JOINERS_AND_MARKS, escapeText)
}

/** The same for the text of a document, which keeps its lines, tabs and soft hyphens. */
export function escapeContent(text: string): string {
  return text.replace(REORDERS, escapeText)
}
