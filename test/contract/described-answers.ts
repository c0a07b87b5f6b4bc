import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { z } from 'zod'
import { API_PREFIX } from '../../src/contract/routes.ts'

/** An answer that a service gave, and the request for it. */
export interface RealResponse {
  readonly method: string
  readonly pathname: string
  readonly status: number
  /** Without parameters; undefined without a body. */
  readonly mediaType: string | undefined
  /** The parsed body of an answer in JSON. */
  readonly json: unknown
}

/** An answer of one operation: `getLibrary 404`. */
export interface Validation {
  readonly answered: string
  /** How the answer differs from the description; undefined when it does not. */
  readonly fault: string | undefined
}

const response = z.looseObject({ content: z.record(z.string(), z.looseObject({ schema: z.unknown() })).optional() })
const operation = z.looseObject({ operationId: z.string(), responses: z.record(z.string(), response) })
const description = z.looseObject({ paths: z.record(z.string(), z.record(z.string(), operation)) })

interface Described {
  readonly method: string
  readonly pattern: RegExp
  readonly operationId: string
  readonly responses: z.infer<typeof operation>['responses']
}

/** Compares answers with an OpenAPI 3.1 document by ajv, an independent implementation of JSON Schema. */
export class ResponseValidator {
  readonly #operations: readonly Described[]
  readonly #ajv: Ajv2020
  readonly #validators = new Map<string, ValidateFunction>()

  constructor(document: unknown) {
    this.#operations = operationsOf(document)
    this.#ajv = new Ajv2020({ strict: true, allErrors: true, allowUnionTypes: true })
    addFormats.default(this.#ajv)
    // OpenAPI's format for bytes that are not JSON.
    this.#ajv.addFormat('binary', true)
  }

  /** `OPERATION STATUS` of every answer that the document describes. */
  get described(): string[] {
    return this.#operations.flatMap(({ operationId, responses }) =>
      Object.keys(responses).map((status) => `${operationId} ${status}`),
    )
  }

  /** Undefined for a path that no operation has. */
  validate(answer: RealResponse): Validation | undefined {
    const found = this.#operations.find(
      ({ method, pattern }) => method === answer.method && pattern.test(answer.pathname),
    )
    if (!found) return undefined
    const answered = `${found.operationId} ${answer.status}`
    return { answered, fault: this.#findFault(answered, found.responses[String(answer.status)], answer) }
  }

  #findFault(
    answered: string,
    described: z.infer<typeof response> | undefined,
    { mediaType, json }: RealResponse,
  ): string | undefined {
    if (!described) return 'the status is not described'
    const { content = {} } = described
    if (mediaType === undefined) return Object.keys(content).length > 0 ? 'it has no body' : undefined
    const media = content[mediaType] ?? content['*/*']
    if (!media) return `a body of ${mediaType} is not described, only ${Object.keys(content).join(', ') || 'none'}`
    if (mediaType !== 'application/json') return undefined
    const validate = this.#validators.get(answered) ?? this.#ajv.compile(z.looseObject({}).parse(media.schema))
    this.#validators.set(answered, validate)
    return validate(json) ? undefined : this.#ajv.errorsText(validate.errors)
  }
}

function operationsOf(document: unknown): Described[] {
  return Object.entries(description.parse(document).paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, each]) => ({
      method: method.toUpperCase(),
      pattern: new RegExp(`^${API_PREFIX}${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
      ...each,
    })),
  )
}

export async function toRealResponse(url: string, init: RequestInit, answer: Response): Promise<RealResponse> {
  const mediaType = answer.headers.get('content-type')?.split(';')[0]
  const text = await answer.text()
  return {
    method: init.method ?? 'GET',
    pathname: new URL(url).pathname,
    status: answer.status,
    mediaType: text === '' ? undefined : mediaType,
    json: mediaType === 'application/json' && text !== '' ? JSON.parse(text) : undefined,
  }
}
