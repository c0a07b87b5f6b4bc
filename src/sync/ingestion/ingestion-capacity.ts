/** How much room ingestion has for further uploads: back-pressure from the stage that follows ingestion to uploads. */
export interface IngestionCapacity {
  /** Committed resources that are still being processed. */
  countPending(): number
  /** More resources may be pending. */
  wake(): void
  /** Polling failed, so the capacity will not grow any more. */
  readonly hasFailed: boolean
  /** Calls `listener` whenever resources left processing, and when polling failed. */
  onCapacity(listener: () => void): Disposable
}
