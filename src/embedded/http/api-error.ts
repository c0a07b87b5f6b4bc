/** An error response of the interface; `errors` holds messages by field. */
export class ApiError extends Error {
  readonly status: number
  readonly errors: Readonly<Record<string, readonly string[]>> | undefined

  constructor(status: number, message: string, errors?: Readonly<Record<string, readonly string[]>>) {
    super(message)
    this.status = status
    this.errors = errors
  }
}

export const unauthorized = (message: string) => new ApiError(401, message)
export const forbidden = (right: string) => new ApiError(403, `The credential lacks the right ${right}`)
export const notFound = (thing: string) => new ApiError(404, `${thing} not found`)
export const conflict = (message: string) => new ApiError(409, message)
export const tooLarge = (message: string) => new ApiError(413, message)
export const fileTooLarge = () => tooLarge('The file is larger than this instance accepts')

/** Returns the error 422 for one faulty field. */
export function invalid(field: string, message: string): ApiError {
  return new ApiError(422, message, { [field]: [message] })
}
