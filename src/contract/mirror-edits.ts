import { z } from 'zod'

/** Shapes of the calls by which the dashboard changes what is mirrored. */

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
  /** Stands for the text of the file; a change of another text than this is refused. */
  revision: z.string(),
}

/** Files that change sides: how many, and the first of them by name. */
const changed = z.object({ count, first: z.array(z.string()).readonly() })

const rulesEffect = z.object({
  /** Files, and their bytes, that are mirrored by the rules that are asked about. */
  files: count,
  bytes: count,
  /** Files that are mirrored by the rules in force, and not by those that are asked about. */
  leaving: changed,
  coming: changed,
  /** False where the directory is so large that only a part of it was looked through. */
  isWhole: z.boolean(),
})

const chosenMirror = z.object({
  /** Absolute, or below `~`. */
  path: z.string().max(4_096),
  /** Empty for the name of the directory. */
  name: z.string().max(100),
  /** Identifier or name; empty for a library with the name of the directory. */
  library: z.string().max(1_000),
})

/** What is wrong with a field; of the others nothing is known then. */
const fieldProblem = z.object({ field: z.enum(['path', 'name', 'library']), message: z.string() })

const checkedMirror = z.object({
  problem: fieldProblem.nullable(),
  /** The mirror with all that was left empty; null beside a problem. */
  mirror: chosenMirror.extend({ remotePath: z.string(), isNewLibrary: z.boolean(), found: rulesEffect }).nullable(),
})

const written = z.object({ message: z.string() })

export const mirrorEdits = {
  rules: { input: z.object({ mirror: z.string() }), answer: z.object({ ...target, ignore }) },
  rulesEffect: { input: z.object({ mirror: z.string(), ignore }), answer: rulesEffect },
  saveRules: { input: z.object({ mirror: z.string(), revision: z.string(), ignore }), answer: written },
  /** The libraries that take files from the credential. */
  newMirror: { input: z.object({}), answer: z.object({ ...target, libraries: z.array(z.string()).readonly() }) },
  checkMirror: { input: chosenMirror, answer: checkedMirror },
  addMirror: {
    input: chosenMirror.extend({
      revision: z.string(),
      /** Makes the library where there is none of its name. */
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
