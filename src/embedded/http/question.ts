import type { Grant } from '../access/grant.ts'
import type { Service } from '../service.ts'
import { type Asked, type Endpoint, type EndpointSpec, endpoint, parseWith } from './endpoint.ts'

/** Who asks, and what, when it is not a request. */
export interface Asking {
  readonly service: Service
  readonly grant: Grant
  /** The identifiers that a path would hold, by name. */
  readonly ids?: Readonly<Record<string, string>>
  /** The parameters as a query would hold them. */
  readonly query?: unknown
}

/** An endpoint that answers with JSON and reads nothing else of the request: it can be asked without one. */
export interface Question extends Endpoint {
  /** Answers with the same validation and the same rights as a request; throws ApiError or ZodError. */
  ask(asking: Asking): Promise<unknown>
}

type QuestionSpec<Query> = Omit<EndpointSpec<Query, unknown>, 'handle' | 'body'> & {
  handle(asked: Asked<Query>): unknown
}

/** Like `endpoint`, for a route that agents use as well. */
export function question<Query = unknown>(spec: QuestionSpec<Query>): Question {
  return {
    ...endpoint(spec),
    async ask({ service, grant, ids = {}, query = {} }) {
      return await spec.handle({ service, grant, id: (name) => ids[name] ?? '', query: parseWith(spec.query, query) })
    },
  }
}
