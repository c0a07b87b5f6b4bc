/** Words of one line mean the same to the models of the tests, which know no others. */
export const CONCEPTS = [
  ['car', 'automobile', 'vehicle'],
  ['salary', 'wages', 'pay'],
  ['doctor', 'physician', 'surgeon'],
  ['ship', 'vessel', 'boat'],
]
