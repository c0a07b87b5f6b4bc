/** What src/remote needs of undici, whose front door loads all of it: fetch, mocks, caches and WebSocket. */

export { default as Pool } from '../node_modules/undici/lib/dispatcher/pool.js'
