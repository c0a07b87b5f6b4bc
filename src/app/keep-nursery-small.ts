import { setFlagsFromString } from 'node:v8'

/**
 * Keeps V8's nursery as large as it is. The objects of a run are short-lived: it would grow to 128 MB for no gain. While the program
 * starts it may grow: code and schemas that it loads stay, and a nursery of 1 MB would be emptied of them again and again.
 */
export function keepNurserySmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1')
}
