/** The few forms of protocol buffers that an ONNX file uses. */

/** The bytes of one or more fields. */
export type Fields = readonly Uint8Array[]

const LENGTH_DELIMITED = 2
const FIXED_32 = 5

export function integerField(number: number, value: number | bigint): Uint8Array {
  return Buffer.concat([varint(number << 3), varint(value)])
}

export function floatField(number: number, value: number): Uint8Array {
  const bytes = Buffer.alloc(4)
  bytes.writeFloatLE(value)
  return Buffer.concat([varint((number << 3) | FIXED_32), bytes])
}

export function bytesField(number: number, bytes: Uint8Array): Uint8Array {
  return Buffer.concat([varint((number << 3) | LENGTH_DELIMITED), varint(bytes.length), bytes])
}

export function textField(number: number, text: string): Uint8Array {
  return bytesField(number, Buffer.from(text))
}

export function messageField(number: number, fields: Fields): Uint8Array {
  return bytesField(number, Buffer.concat(fields))
}

function varint(value: number | bigint): Uint8Array {
  const bytes: number[] = []
  let rest = BigInt.asUintN(64, BigInt(value))
  for (; rest >= 0x80n; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80)
  return Uint8Array.from([...bytes, Number(rest)])
}
