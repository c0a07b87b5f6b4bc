import { z } from 'zod'

export interface Bounds {
  readonly min: number
  readonly max: number
  readonly isWhole: boolean
}

export function wholeNumber(min: number, max: number): Bounds {
  return { min, max, isWhole: true }
}

export function anyNumber(min: number, max: number): Bounds {
  return { min, max, isWhole: false }
}

export function isWithin(value: number, { min, max, isWhole }: Bounds): boolean {
  return value >= min && value <= max && (!isWhole || Number.isInteger(value))
}

/** Returns `a whole number from 1 to 64`. */
export function describeBounds({ min, max, isWhole }: Bounds): string {
  return `a ${isWhole ? 'whole ' : ''}number from ${min} to ${max}`
}

/** Returns the shape of a number in a request; its message names the bounds. */
export function boundedNumber(bounds: Bounds) {
  const expected = `must be ${describeBounds(bounds)}`
  return z.number(expected).refine((value) => isWithin(value, bounds), expected)
}
