import type { Fault } from '../../foundation/http/fault.ts'
import type { Readings } from './readings.ts'

export interface ReadingRequest {
  readonly id: number
  readonly name: keyof Readings
  readonly input: unknown
}

export type ReadingResponse =
  | { readonly id: number; readonly answer: unknown }
  | { readonly id: number; readonly fault: Fault }
