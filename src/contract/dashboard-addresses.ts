/** The addresses and numbers that page and server of the dashboard share, beside the shapes. */

/** Where the server answers calls, each by its name. */
export const CALLS_PATH = '/api'

export const LIVE_PATH = '/api/live'

/** The part after the `#` of the one-time address begins so; the key follows. Browsers do not send it. */
export const SIGN_IN_FRAGMENT = '#/sign-in/'

export const ROWS_A_PAGE = 100
