/** In place of undici's HTTP/2, which the client forbids (`allowH2: false`), because loading it takes longer than the rest of the pool. */
module.exports = () => {
  throw new Error('HTTP/2 is not spoken')
}
