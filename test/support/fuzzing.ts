import fc from 'fast-check'

/**
 * Returns how a fuzzer runs: `runs` times, or `SHELFD_FUZZ_TIMES` times as often. A failure prints its seed, which `SHELFD_FUZZ_SEED` repeats.
 */
export function fuzzing(runs: number): fc.Parameters<unknown> {
  const { SHELFD_FUZZ_TIMES = '1', SHELFD_FUZZ_SEED } = process.env
  const times = Number(SHELFD_FUZZ_TIMES)
  return {
    numRuns: runs * times,
    endOnFailure: times > 1,
    ...(SHELFD_FUZZ_SEED !== undefined && { seed: Number(SHELFD_FUZZ_SEED) }),
  }
}

/** Names that an object may inherit, and that code asks objects for. */
const ODD_KEYS = [
  'toString',
  'valueOf',
  'then',
  'toJSON',
  'constructor',
  '__proto__',
  'hasOwnProperty',
  'length',
  'message',
]

export const oddString = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.constantFrom('', '\0', '\u202e', '..', '/', '\ud800', 'null', '-1', '1e999', 'x'.repeat(100_000)),
)

const oddScalar = fc.oneof(
  oddString,
  fc.constantFrom(null, true, false, 0, -0, -1, 1.5, 2 ** 53, 1e308, Number.MIN_VALUE, [], {}),
  fc.integer(),
)

/** Any JSON there may be by structure: types in wrong places, keys that objects have anyway, and deep nesting. */
const oddJson = fc.oneof(
  { weight: 6, arbitrary: oddScalar },
  {
    weight: 3,
    arbitrary: fc.dictionary(fc.oneof(fc.constantFrom(...ODD_KEYS), fc.string({ maxLength: 5 })), oddScalar, {
      maxKeys: 4,
    }),
  },
  { weight: 2, arbitrary: fc.array(oddScalar, { maxLength: 4 }) },
  { weight: 4, arbitrary: fc.constantFrom('toString', 'then', 'valueOf', '__proto__').map((key) => ownKey(key)) },
  { weight: 1, arbitrary: fc.constantFrom('@deep10', '@deep1000', '@deep20000') },
)

/** An object that has this key of its own, as JSON can give it. */
function ownKey(key: string): unknown {
  return JSON.parse(`{"${key}":"x"}`)
}

/** The JSON text of a value; what stands for deep nesting is nested only here, since nothing recursive can write it. */
export function jsonText(value: unknown): string {
  const text = JSON.stringify(value) ?? ''
  return text.replaceAll(
    /"@deep(\d+)"/g,
    (_, depth) => `${'[{"toString":'.repeat(depth / 2)}1${'}]'.repeat(depth / 2)}`,
  )
}

/** A good value with some of its parts replaced, left out or added; now and then something else altogether. */
export function spoiled(good: unknown): fc.Arbitrary<unknown> {
  return fc.oneof(
    { weight: 1, arbitrary: oddJson },
    { weight: 1, arbitrary: fc.constant(good) },
    {
      weight: 6,
      arbitrary: fc.tuple(fc.nat(), fc.oneof(oddJson, fc.constant(undefined)), fc.constantFrom(...ODD_KEYS)).map(spoil),
    },
  )
  function spoil([at, odd, key]: [number, unknown, string]): unknown {
    const paths = pathsIn(good)
    const path = paths[at % paths.length] ?? []
    return replaceAt(good, at % 5 === 0 ? [...path, key] : path, odd)
  }
}

type Path = readonly (string | number)[]

function pathsIn(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path]
  return [path, ...Object.entries(value).flatMap(([key, below]) => pathsIn(below, [...path, key]))]
}

function replaceAt(value: unknown, [key, ...rest]: Path, odd: unknown): unknown {
  if (key === undefined) return odd
  if (typeof value !== 'object' || value === null) return { [key]: odd }
  if (Array.isArray(value))
    return value.map((each, index) => (index === Number(key) ? replaceAt(each, rest, odd) : each))
  const entries = Object.entries(value).filter(([name]) => name !== String(key))
  const before: unknown = Object.entries(value).find(([name]) => name === String(key))?.[1]
  return Object.fromEntries([...entries, [key, replaceAt(before, rest, odd)]])
}
