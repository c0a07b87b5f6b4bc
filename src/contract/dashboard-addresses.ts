/** What the page and the server of the dashboard share besides the shapes in `dashboard.ts`: addresses and a page size. */

/** A call is sent to this path, followed by `/` and the name of the call. */
export const CALLS_PATH = '/api'

export const LIVE_PATH = '/api/live'

/** The beginning of the one-time address's fragment; the key follows. Browsers do not send fragments to servers. */
export const SIGN_IN_FRAGMENT = '#/sign-in/'

export const ROWS_A_PAGE = 100
