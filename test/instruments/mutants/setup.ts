import fc from 'fast-check'

/** A mutant is caught by any counterexample: nobody reads the smallest one. */
fc.configureGlobal({ endOnFailure: true })
