// SPDX-License-Identifier: Apache-2.0
// Conditions of records as texts.
import type { ConditionValue, Measurement } from '../service/types';
import { withPrefix } from './figures';

const textOf = (value: ConditionValue): string => (typeof value === 'object' ? (typeof value.value === 'number' ? withPrefix(value.value, value.unit) : `${value.value} ${value.unit}`) : String(value));

const texts = (values: Record<string, ConditionValue> = {}) => Object.fromEntries(Object.entries(values).map(([name, value]) => [name, textOf(value)]));

/** Conditions that make the record a case of its own. */
export const identitiesOf = ({ conditions }: Measurement): Record<string, string> => texts(conditions.identity);

/** All conditions of a record, by name. */
export const conditionsOf = ({ conditions }: Measurement): Record<string, string> => Object.assign({}, ...Object.values(conditions).map(texts)) as Record<string, string>;
