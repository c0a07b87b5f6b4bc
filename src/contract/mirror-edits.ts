import { z } from 'zod'

/** The shapes of the calls by which the dashboard changes mirrors and their ignore rules. */

const count = z.int().nonnegative()

const ignore = z
  .array(
    z
      .string()
      .max(1_000)
      .regex(/^\P{Cc}+$/u, 'one line'),
  )
  .max(1_000)
  .readonly()

const target = {
  file: z.string(),
  /** Identifies the text of the file. A change is refused if the file has another text by then. */
  revision: z.string(),
}

/** How many files new rules would add or leave out, and the paths of the first of them. */
const changed = z.object({ count, first: z.array(z.string()).readonly() })

const rulesEffect = z.object({
  /** How many files the new rules mirror, and the sum of their sizes. */
  files: count,
  bytes: count,
  /** Files that only the rules in force mirror; `coming` are those that only the new rules mirror. */
  leaving: changed,
  coming: changed,
  /** False if only a part of the directory could be listed in time. */
  isWhole: z.boolean(),
})

const chosenMirror = z.object({
  /** Absolute, or below `~`. */
  path: z.string().max(4_096),
  /** An empty text means the name of the directory. */
  name: z.string().max(100),
  /** Identifier or name. The embedded library also accepts an empty text: the library is named like the mirror. */
  library: z.string().max(1_000),
})

/** What is wrong with one field; the others may be wrong as well. */
const fieldProblem = z.object({ field: z.enum(['path', 'name', 'library']), message: z.string() })

const checkedMirror = z.object({
  problem: fieldProblem.nullable(),
  /** The mirror with its empty fields filled in; null if there is a problem. */
  mirror: chosenMirror.extend({ remotePath: z.string(), isNewLibrary: z.boolean(), found: rulesEffect }).nullable(),
})

const written = z.object({ message: z.string() })

export const mirrorEdits = {
  rules: { input: z.object({ mirror: z.string() }), answer: z.object({ ...target, ignore }) },
  rulesEffect: { input: z.object({ mirror: z.string(), ignore }), answer: rulesEffect },
  saveRules: { input: z.object({ mirror: z.string(), revision: z.string(), ignore }), answer: written },
  /** Lists the names of the libraries to which the credential may upload. */
  newMirror: { input: z.object({}), answer: z.object({ ...target, libraries: z.array(z.string()).readonly() }) },
  checkMirror: { input: chosenMirror, answer: checkedMirror },
  addMirror: {
    input: chosenMirror.extend({
      revision: z.string(),
      /** Whether the library is created if none has its name. */
      mayCreateLibrary: z.boolean(),
    }),
    answer: written,
  },
  removeMirror: { input: z.object({ mirror: z.string(), revision: z.string() }), answer: written },
} as const

export type RulesEffect = z.infer<typeof rulesEffect>
export type ChosenMirror = z.infer<typeof chosenMirror>
export type CheckedMirror = z.infer<typeof checkedMirror>
export type FieldProblem = z.infer<typeof fieldProblem>
