/** What page and server of the dashboard agree on, beside the shapes. */

/** Where the server answers calls, each by its name. */
export const CALLS_PATH = '/api'

export const LIVE_PATH = '/api/live'

/** The part after the `#` of the one-time address begins so; the key follows. Browsers do not send it. */
export const SIGN_IN_FRAGMENT = '#/sign-in/'

/** So many rows of the report come at a time. */
export const ROWS_A_PAGE = 100
