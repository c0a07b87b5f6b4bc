import { bytesField, type Fields, floatField, integerField, messageField, textField } from './protobuf.ts'

/** An operation of a graph, such as Gather. */
export interface Operation {
  readonly type: string
  readonly inputs: readonly string[]
  readonly output: string
  readonly attributes?: Readonly<Record<string, number | readonly number[] | { readonly float: number }>>
}

/** A tensor that a model has stored: numbers of 32-bit floats, or 64-bit integers. */
export interface Constant {
  readonly name: string
  readonly dimensions: readonly number[]
  readonly values: Float32Array | BigInt64Array
  /** The file beside the graph that holds the bytes of the values, and nothing else. */
  readonly file?: string
}

/** An input or output; a dimension without a fixed size has a name. */
export interface Port {
  readonly name: string
  readonly type: 'float' | 'int64'
  readonly dimensions: readonly (string | number)[]
}

export interface Graph {
  readonly inputs: readonly Port[]
  readonly outputs: readonly Port[]
  readonly constants: readonly Constant[]
  readonly operations: readonly Operation[]
}

/** Versions that every runtime of the last years reads. */
const IR_VERSION = 8
const OPERATOR_SET = 17
const ELEMENT_TYPES = { float: 1, int64: 7 } as const
const EXTERNAL = 1
const ATTRIBUTE_TYPES = { float: 1, integer: 2, integers: 7 } as const

/** The bytes of an ONNX file (onnx.proto: ModelProto). */
export function encodeOnnx({ inputs, outputs, constants, operations }: Graph): Buffer {
  const graph = [
    ...operations.map((each) => messageField(1, operationFields(each))),
    textField(2, 'graph'),
    ...constants.map((each) => messageField(5, constantFields(each))),
    ...inputs.map((each) => messageField(11, portFields(each))),
    ...outputs.map((each) => messageField(12, portFields(each))),
  ]
  const operatorSet = [textField(1, ''), integerField(2, OPERATOR_SET)]
  return Buffer.concat([integerField(1, IR_VERSION), messageField(7, graph), messageField(8, operatorSet)])
}

/** NodeProto. */
function operationFields({ type, inputs, output, attributes = {} }: Operation): Fields {
  return [
    ...inputs.map((name) => textField(1, name)),
    textField(2, output),
    textField(4, type),
    ...Object.entries(attributes).map(([name, value]) =>
      messageField(5, [textField(1, name), ...attributeFields(value)]),
    ),
  ]
}

/** AttributeProto, without its name. */
function attributeFields(value: number | readonly number[] | { readonly float: number }): Fields {
  if (typeof value === 'number') return [integerField(3, value), integerField(20, ATTRIBUTE_TYPES.integer)]
  if ('float' in value) return [floatField(2, value.float), integerField(20, ATTRIBUTE_TYPES.float)]
  return [...value.map((each) => integerField(8, each)), integerField(20, ATTRIBUTE_TYPES.integers)]
}

/** TensorProto. */
function constantFields({ name, dimensions, values, file }: Constant): Fields {
  const type = values instanceof Float32Array ? ELEMENT_TYPES.float : ELEMENT_TYPES.int64
  const head = [...dimensions.map((size) => integerField(1, size)), integerField(2, type), textField(8, name)]
  if (file === undefined) return [...head, bytesField(9, bytesOf(values))]
  const place = Object.entries({ location: file, offset: '0', length: String(values.byteLength) })
  return [
    ...head,
    ...place.map(([key, value]) => messageField(13, [textField(1, key), textField(2, value)])),
    integerField(14, EXTERNAL),
  ]
}

/** As a file has them, beside the graph or in it. */
export function bytesOf({ buffer, byteOffset, byteLength }: Constant['values']): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength)
}

/** ValueInfoProto. */
function portFields({ name, type, dimensions }: Port): Fields {
  const shape = dimensions.map((size) =>
    messageField(1, [typeof size === 'number' ? integerField(1, size) : textField(2, size)]),
  )
  const tensor = [integerField(1, ELEMENT_TYPES[type]), messageField(2, shape)]
  return [textField(1, name), messageField(2, [messageField(1, tensor)])]
}
